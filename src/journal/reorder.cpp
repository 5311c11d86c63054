#include "journal/reorder.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "journal/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// A queue that was unused for this long is dropped; the store has its numbers.
constexpr std::int64_t kForgetAfterMs = 60'000;

std::string numbers(std::uint64_t from, std::uint64_t to) {
  return from == to ? std::to_string(from) : std::to_string(from) + "-" + std::to_string(to);
}

// A notice before `early` that lists the missing numbers.
AppendRequest missing_notice(std::uint64_t from, std::uint64_t to, const AppendRequest& early) {
  std::int64_t now_ms = early.received_ms;
  std::string json = R"({"type":"log","summary":"Producer numbers )" + numbers(from, to) +
                     R"( have not arrived","data":{"missing":{"from":)" + std::to_string(from) + R"(,"to":)" +
                     std::to_string(to) + "}}}";
  AppendRequest notice;
  notice.task = early.task;
  notice.received_ms = now_ms;
  notice.by_server = true;
  notice.late_within_ms = early.late_within_ms;
  if (auto drafts = decode_events(json, Framing::json, Intake{.now_ms = now_ms})) notice.drafts = std::move(*drafts);
  return notice;
}

std::size_t size_of(const DraftBatch& batch) {
  std::size_t bytes = batch.bytes.size();
  for (const Draft& draft : batch.drafts) bytes += draft.detail.size();
  return bytes;
}

// Sorts a request's events by number; an event without a number stays after its predecessor. Returns the lowest and the
// highest number.
std::pair<std::uint64_t, std::uint64_t> put_in_order(std::vector<Draft>& drafts) {
  std::vector<std::pair<std::uint64_t, std::size_t>> places;
  std::uint64_t first = UINT64_MAX, last = 0, number = 0;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (drafts[i].producer_sequence != 0) {
      number = drafts[i].producer_sequence;
      first = std::min(first, number);
      last = std::max(last, number);
    }
    places.emplace_back(number, i);
  }
  if (std::ranges::is_sorted(places)) return {first, last};
  std::ranges::sort(places);
  std::vector<Draft> sorted;
  sorted.reserve(drafts.size());
  for (const auto& [key, i] : places) sorted.push_back(std::move(drafts[i]));
  drafts = std::move(sorted);
  return {first, last};
}

}  // namespace

void Reorder::append(AppendRequest request, Done done) {
  auto [first, last] = put_in_order(request.drafts.drafts);
  std::string task = request.task;
  std::int64_t received_ms = request.received_ms;
  bool asks = false;
  {
    MutexLock order(order_mutex_);
    std::vector<Release> releases;
    {
      MutexLock lock(mutex_);
      Queue& queue = queues_[task];
      queue.used_ms = clock_.steady_ms();
      std::size_t bytes = size_of(request.drafts);
      queue.events += request.drafts.drafts.size();
      queue.bytes += bytes;
      bytes_ += bytes;
      queue.waiting.emplace(first, Waiting{std::move(request), std::move(done), last, bytes, queue.used_ms});
      bool unsure = !queue.started || release_some(queue, Which::in_order, releases);
      asks = unsure && !std::exchange(queue.asking, true);
    }
    submit_all(std::move(releases));
  }
  if (asks) ask(task, received_ms);
}

// The store's record of this producer determines the number that is due.
void Reorder::ask(const std::string& task, std::int64_t received_ms) {
  AppendRequest question;
  question.task = task;
  question.producer.kind = ProducerKind::loose;
  question.received_ms = received_ms;
  submit_(std::move(question), [this, task](Result<Appended> high) { on_answer(task, high); });
}

void Reorder::on_answer(const std::string& task, const Result<Appended>& high) {
  MutexLock order(order_mutex_);
  std::vector<Release> releases;
  {
    MutexLock lock(mutex_);
    auto at = queues_.find(task);
    if (at == queues_.end()) return;
    Queue& queue = at->second;
    queue.started = true;
    queue.asking = false;
    if (high) {
      queue.next = std::max(queue.next, high->producer_sequence + 1);
      release_ready(queue, true, releases);
    } else {
      // If the store cannot answer (unknown task, no disk), it reports that to each request itself.
      release_some(queue, Which::unlooked, releases);
      release_ends(queue, releases);
      queues_.erase(at);
    }
  }
  submit_all(std::move(releases));
}

void Reorder::end(AppendRequest request, Done done) {
  MutexLock order(order_mutex_);
  std::vector<Release> releases;
  {
    MutexLock lock(mutex_);
    std::int64_t now_ms = clock_.steady_ms();
    auto at = queues_.find(request.task);
    if (at == queues_.end() ||
        (at->second.waiting.empty() && at->second.ends.empty() && now_ms - at->second.used_ms >= kEndQuiet.count())) {
      releases.push_back({std::move(request), std::move(done)});
    } else {
      at->second.ends.push_back({std::move(request), std::move(done), 0, 0, now_ms});
    }
  }
  submit_all(std::move(releases));
}

bool Reorder::is_full(const Queue& queue) const {
  return queue.events > kReorderEvents || queue.bytes > kReorderBytes || bytes_ > kReorderAllBytes;
}

void Reorder::release_ends(Queue& queue, std::vector<Release>& out) {
  for (Waiting& end : queue.ends) out.push_back({std::move(end.request), std::move(end.done)});
  queue.ends.clear();
}

void Reorder::release_front(Queue& queue, std::vector<Release>& out) {
  auto node = queue.waiting.extract(queue.waiting.begin());
  Waiting& waiting = node.mapped();
  SHEPHERD_ASSERT(bytes_ >= queue.bytes && queue.bytes >= waiting.bytes,
                  "what waits is counted, in its queue and in all");
  queue.events -= waiting.request.drafts.drafts.size();
  queue.bytes -= waiting.bytes;
  bytes_ -= waiting.bytes;
  queue.next = std::max(queue.next, waiting.last + 1);
  out.push_back({std::move(waiting.request), std::move(waiting.done)});
}

bool Reorder::release_some(Queue& queue, Which which, std::vector<Release>& out) {
  std::int64_t now_ms = clock_.steady_ms();
  while (!queue.waiting.empty()) {
    auto& [first, oldest] = *queue.waiting.begin();
    bool in_order = first <= queue.next;
    bool waited = now_ms - oldest.since_ms >= kReorderWait.count() || is_full(queue);
    bool stays = which == Which::in_order || (which == Which::due && !waited);
    if (!in_order && stays) return waited;
    if (!in_order && which != Which::unlooked) {
      SHEPHERD_ASSERT(first > queue.next, "only numbers that are missing are reported missing");
      out.push_back({missing_notice(queue.next, first - 1, oldest.request), [](Result<Appended>) {}});
    }
    release_front(queue, out);
  }
  return false;
}

bool Reorder::release_ready(Queue& queue, bool asked, std::vector<Release>& out) {
  bool unsure = release_some(queue, asked ? Which::due : Which::in_order, out);
  if (queue.ends.empty()) return unsure;
  std::int64_t now_ms = clock_.steady_ms();
  bool quiet = queue.waiting.empty() && now_ms - queue.used_ms >= kEndQuiet.count();
  bool waited = now_ms - queue.ends.front().since_ms >= kReorderWait.count();
  if (!quiet && !waited) return unsure;
  if (!queue.waiting.empty() && !asked) return true;
  release_some(queue, Which::rest, out);
  release_ends(queue, out);
  return false;
}

void Reorder::submit_all(std::vector<Release> releases) {
  for (auto& release : releases) submit_(std::move(release.request), std::move(release.done));
}

void Reorder::tick() {
  std::vector<std::pair<std::string, std::int64_t>> questions;
  {
    MutexLock order(order_mutex_);
    std::vector<Release> releases;
    {
      MutexLock lock(mutex_);
      std::int64_t now_ms = clock_.steady_ms();
      for (auto at = queues_.begin(); at != queues_.end();) {
        Queue& queue = at->second;
        bool unsure = queue.started && release_ready(queue, false, releases);
        if (unsure && !std::exchange(queue.asking, true)) {
          questions.emplace_back(at->first, queue.waiting.begin()->second.request.received_ms);
        }
        bool forget = queue.started && queue.waiting.empty() && now_ms - queue.used_ms > kForgetAfterMs;
        at = forget ? queues_.erase(at) : std::next(at);
      }
    }
    submit_all(std::move(releases));
  }
  for (const auto& [task, received_ms] : questions) ask(task, received_ms);
}

void Reorder::release(const std::string& task) {
  MutexLock order(order_mutex_);
  std::vector<Release> releases;
  {
    MutexLock lock(mutex_);
    auto at = queues_.find(task);
    if (at == queues_.end()) return;
    release_some(at->second, at->second.started ? Which::rest : Which::unlooked, releases);
    release_ends(at->second, releases);
  }
  submit_all(std::move(releases));
}

void Reorder::flush() {
  MutexLock order(order_mutex_);
  std::vector<Release> releases;
  {
    MutexLock lock(mutex_);
    for (auto& [task, queue] : queues_) {
      release_some(queue, Which::unlooked, releases);
      release_ends(queue, releases);
    }
  }
  submit_all(std::move(releases));
}

}  // namespace shepherd
