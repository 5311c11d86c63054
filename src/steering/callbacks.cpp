#include "steering/callbacks.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "base/log.h"
#include "steering/callback_message.h"
#include "steering/callback_target.h"
#include "steering/limits.h"

namespace shepherd {
namespace {

constexpr const char* kRecordKind = "callback";
constexpr std::int64_t kLookAgainMs = 1'000;  // the store could not be written

bool is_good(int status) {
  return status >= 200 && status < 300;
}

std::string host_of(const net::Url& url) {
  return url.host + ":" + url.port;
}

}  // namespace

Result<int> post_callback(const net::Url& url, const net::HeaderList& headers, std::string_view body,
                          const std::stop_token& stop) {
  net::ClientBounds bounds;
  bounds.max_response_bytes = kMaxCallbackAnswerBytes;
  bounds.allowed = [](std::string_view address) { return !is_refused_address(address); };
  net::HttpClient client(url, {}, std::move(bounds));
  std::stop_callback cut_off(stop, [&client] { client.cancel(); });
  auto response = client.request("POST", url.target, headers, body, kCallbackTimeout);
  if (!response) return fail(response.error());
  return response->status;
}

Callbacks::Callbacks(CallbackParts parts, CallbackConfig config)
    : parts_(std::move(parts)),
      config_(std::move(config)),
      key_(callback_key(config_.secret)),
      sent_(parts_.metrics.counter("shepherd_callbacks_sent_total", "Callbacks that were taken")),
      retried_(parts_.metrics.counter("shepherd_callbacks_retried_total", "Attempts that failed and are repeated")),
      failed_(parts_.metrics.counter("shepherd_callbacks_failed_total", "Callbacks that were given up")) {}

Callbacks::~Callbacks() {
  stop();
}

Result<void> Callbacks::start() {
  auto records = parts_.journal.store().records(kRecordKind);
  if (!records) return fail(records.error());
  {
    MutexLock lock(mutex_);
    for (const auto& [task, text] : *records) {
      CallbackRecord record = decode_callback_record(text);
      records_[task] = record;
      if (record.state != CallbackRecord::State::pending) continue;
      // Who claimed it is gone, if this is the only process; otherwise it may still be at it.
      bool claimed = record.claimed_ms != 0 && !config_.sole_process;
      schedule(task, claimed ? record.claimed_ms + kCallbackTakeover.count() : record.next_ms);
    }
  }
  for (std::int64_t i = 0; i < config_.threads; ++i) threads_.emplace_back([this] { run(); });
  return {};
}

void Callbacks::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.request_stop();
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Callbacks::ended(const std::vector<std::string>& tasks, std::move_only_function<void(bool)> done) {
  std::vector<std::string> fresh;
  {
    MutexLock lock(mutex_);
    for (const std::string& task : tasks) {
      if (!records_.contains(task)) fresh.push_back(task);
    }
  }
  if (fresh.empty()) return done(true);
  parts_.journal.write(
      [fresh](WriteTxn& txn) -> Result<void> {
        for (const std::string& task : fresh) {
          if (auto put = txn.put_record(kRecordKind, task, encode_callback_record({})); !put) return put;
        }
        return {};
      },
      [this, fresh, done = std::move(done)](Result<void> written) mutable {
        if (written) {
          MutexLock lock(mutex_);
          for (const std::string& task : fresh) {
            if (records_.try_emplace(task).second) schedule(task, 0);
          }
        }
        ready_.notify_all();
        done(written.has_value());
      });
}

void Callbacks::forget(const std::string& task) {
  {
    MutexLock lock(mutex_);
    if (records_.erase(task) == 0) return;
    std::erase_if(due_, [&](const auto& each) { return each.second == task; });
  }
  parts_.journal.write([task](WriteTxn& txn) { return txn.put_record(kRecordKind, task, ""); }, [](Result<void>) {});
}

std::optional<CallbackRecord> Callbacks::find(const std::string& task) const {
  MutexLock lock(mutex_);
  auto found = records_.find(task);
  if (found == records_.end()) return std::nullopt;
  return found->second;
}

void Callbacks::schedule(const std::string& task, std::int64_t at_ms) {
  due_.insert({at_ms, task});
}

void Callbacks::run() {
  for (;;) {
    while (step()) {
    }
    MutexLock lock(mutex_);
    if (stopping_) return;
    std::int64_t wait_ms = kLookAgainMs;
    if (!due_.empty()) {
      wait_ms = std::clamp<std::int64_t>(due_.begin()->first - parts_.clock.wall_ms(), 1, kLookAgainMs);
    }
    ready_.wait_for(mutex_, std::chrono::milliseconds(wait_ms));
  }
}

std::optional<std::string> Callbacks::take_due() {
  if (stopping_ || due_.empty() || due_.begin()->first > parts_.clock.wall_ms()) return std::nullopt;
  std::string task = due_.begin()->second;
  due_.erase(due_.begin());
  return task;
}

bool Callbacks::step() {
  std::optional<std::string> task;
  {
    MutexLock lock(mutex_);
    task = take_due();
  }
  if (task) attempt(*task);
  return task.has_value();
}

void Callbacks::attempt(const std::string& task) {
  auto again_at = [&](std::int64_t at_ms) {
    MutexLock lock(mutex_);
    if (records_.contains(task)) schedule(task, at_ms);
  };
  std::int64_t now_ms = parts_.clock.wall_ms();
  auto row = parts_.journal.store().task(task);
  if (!row) {
    if (row.error().code == ErrorCode::not_found) return forget(task);
    return again_at(now_ms + kLookAgainMs);
  }
  CallbackRecord record;
  {
    MutexLock lock(mutex_);
    auto known = records_.find(task);
    if (known == records_.end()) return;
    record = known->second;
    if (auto url = net::parse_url(row->spec.callback_url)) {
      if (std::int64_t open_at = breaker_.may_try_at(host_of(*url)); open_at > now_ms) {
        schedule(task, open_at);
        return;
      }
      breaker_.trying(host_of(*url), now_ms);
    }
  }
  record.claimed_ms = now_ms;
  if (!write(task, record)) return again_at(now_ms + kLookAgainMs);
  Outcome outcome = send(*row);
  settle(record, outcome);
  // An outcome that cannot be written leaves the claim: a restart sends once more, with the same webhook-id.
  if (!write(task, record)) log_warn("the outcome of the callback of task {} could not be stored", task);
  if (outcome.given_up) return;
  (record.state == CallbackRecord::State::sent      ? sent_
   : record.state == CallbackRecord::State::pending ? retried_
                                                    : failed_)
      .add();
  MutexLock lock(mutex_);
  auto known = records_.find(task);
  if (known == records_.end()) return;  // deleted meanwhile
  known->second = record;
  if (record.state == CallbackRecord::State::pending) schedule(task, record.next_ms);
}

Callbacks::Outcome Callbacks::send(const Task& task) {
  auto url = callback_target(task.spec.callback_url);
  if (!url) return {.sent = false, .final = true, .status = 0, .error = url.error().message};
  CallbackMessage message = callback_message(task);
  auto status =
      parts_.post(*url, callback_headers(message, key_, parts_.clock.wall_ms()), message.body, stop_.get_token());
  Outcome outcome;
  if (status) {
    outcome.status = *status;
    outcome.sent = is_good(*status);
    outcome.final = *status == 410;  // the receiver wants no more of them
    if (!outcome.sent) outcome.error = "answered with status " + std::to_string(*status);
  } else {
    outcome.given_up = stop_.stop_requested();
    if (outcome.given_up) return outcome;
    outcome.error = status.error().message;
    outcome.final = status.error().reason == "refused_address";
  }
  MutexLock lock(mutex_);
  // A receiver that answers is there, whatever it says; only silence and its own trouble open the circuit.
  if (outcome.status != 0 && outcome.status < 500) {
    breaker_.succeeded(host_of(*url));
  } else {
    breaker_.failed(host_of(*url), parts_.clock.wall_ms());
  }
  return outcome;
}

void Callbacks::settle(CallbackRecord& record, const Outcome& outcome) const {
  record.claimed_ms = 0;
  record.next_ms = 0;
  if (outcome.given_up) return;  // as before: the next start makes this attempt
  ++record.attempts;
  record.status = outcome.status;
  record.error = outcome.error;
  if (outcome.sent) {
    record.state = CallbackRecord::State::sent;
  } else if (outcome.final || record.attempts >= config_.attempts) {
    record.state = CallbackRecord::State::failed;
  } else {
    std::int64_t pause_ms = kCallbackFirstPause.count() << std::min<std::int64_t>(record.attempts - 1, 20);
    pause_ms = std::min<std::int64_t>(pause_ms, kCallbackMostPause.count());
    // Up to a fifth later, so that what failed together does not come back together.
    pause_ms += static_cast<std::int64_t>(parts_.random.below(static_cast<std::uint64_t>(pause_ms / 5 + 1)));
    record.next_ms = parts_.clock.wall_ms() + pause_ms;
  }
}

bool Callbacks::write(const std::string& task, const CallbackRecord& record) {
  std::promise<bool> written;
  parts_.journal.write(
      [task, text = encode_callback_record(record)](WriteTxn& txn) {
        // A task that was deleted meanwhile leaves nothing that a later one of the same id would find.
        return txn.put_record(kRecordKind, task, txn.task(task) ? text : "");
      },
      [&written](Result<void> result) { written.set_value(result.has_value()); });
  return written.get_future().get();
}

}  // namespace shepherd
