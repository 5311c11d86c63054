#include "harness/acp/acp_peer.h"

#include <algorithm>
#include <utility>

#include "driver/limits.h"
#include "harness/acp/limits.h"

namespace shepherd::harness {
namespace json = boost::json;
namespace {

bool is_answer_to(const json::object& message, std::int64_t id) {
  const json::value* found = message.if_contains("id");
  return !message.contains("method") && found != nullptr && found->is_int64() && found->get_int64() == id;
}

}  // namespace

Result<std::unique_ptr<AcpPeer>> AcpPeer::start(const AgentSpec& spec) {
  std::unique_ptr<AcpPeer> peer(new AcpPeer());
  auto process = AgentProcess::start(spec, *peer, peer->clock_);
  if (!process) return fail(std::move(process.error()));
  peer->process_ = *std::move(process);
  return peer;
}

std::int64_t AcpPeer::request(std::string_view method, const json::object& params) {
  std::int64_t id = asked_++;
  send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
  return id;
}

void AcpPeer::notify(std::string_view method, const json::object& params) {
  send({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

// An agent that no longer reads shows in what it does not answer.
void AcpPeer::send(const json::object& message) {
  std::string text = json::serialize(message);
  {
    MutexLock lock(mutex_);
    lines_.push_back({.from_agent = false, .is_json = true, .text = text, .json = message});
  }
  (void)process_->write(text + "\n");
}

std::optional<AcpLine> AcpPeer::next(std::int64_t deadline_ms, bool& ended) {
  MutexLock lock(mutex_);
  while (true) {
    while (read_ < lines_.size() && !lines_[read_].from_agent) ++read_;
    if (read_ < lines_.size()) return lines_[read_++];
    ended = output_ended_;
    std::int64_t left_ms = deadline_ms - clock_.steady_ms();
    if (ended || left_ms <= 0) return {};
    changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
}

AcpPeer::Wait AcpPeer::wait_for(const std::function<bool(const json::object&)>& pattern,
                                std::chrono::milliseconds timeout) {
  std::int64_t deadline_ms = clock_.steady_ms() + timeout.count();
  bool ended = false;
  while (auto line = next(deadline_ms, ended)) {
    const json::object* message = line->object();
    if (message == nullptr) continue;
    if (message->contains("method") && message->contains("id")) answer_its_request(*message);
    if (pattern(*message)) return Wait::found;
  }
  return ended ? Wait::ended : Wait::timed_out;
}

std::optional<json::object> AcpPeer::answer(std::int64_t id, std::chrono::milliseconds timeout) {
  std::optional<json::object> found;
  wait_for(
      [&](const json::object& message) {
        if (!is_answer_to(message, id)) return false;
        found = message;
        return true;
      },
      timeout);
  return found;
}

void AcpPeer::watch(std::chrono::milliseconds time) {
  wait_for([](const json::object&) { return false; }, time);
}

void AcpPeer::answer_its_request(const json::object& message) {
  const json::value& id = message.at("id");
  const json::object* params = member_object(message, "params");
  if (member_string(message, "method") != "session/request_permission" || params == nullptr || !on_permission) {
    return send({{"jsonrpc", "2.0"},
                 {"id", id},
                 {"error", {{"code", kMethodNotFound}, {"message", "this client does not offer that method"}}}});
  }
  if (auto outcome = on_permission(*params)) {
    return send({{"jsonrpc", "2.0"}, {"id", id}, {"result", {{"outcome", *std::move(outcome)}}}});
  }
  open_permissions_.push_back(id);
}

void AcpPeer::withdraw_permissions() {
  for (const json::value& id : std::exchange(open_permissions_, {})) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"result", {{"outcome", {{"outcome", "cancelled"}}}}}});
  }
}

bool AcpPeer::wait_for_exit(std::chrono::milliseconds timeout) {
  std::int64_t deadline_ms = clock_.steady_ms() + timeout.count();
  MutexLock lock(mutex_);
  while (!exit_) {
    std::int64_t left_ms = deadline_ms - clock_.steady_ms();
    if (left_ms <= 0) return false;
    changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  return true;
}

bool AcpPeer::running() {
  bool may_be_ending = false;
  {
    MutexLock lock(mutex_);
    may_be_ending = output_ended_;
  }
  return !wait_for_exit(may_be_ending ? kAcpQuiet : std::chrono::milliseconds(0));
}

std::string AcpPeer::exit_text() {
  MutexLock lock(mutex_);
  return exit_ ? describe(*exit_) : std::string();
}

std::string AcpPeer::tail() {
  MutexLock lock(mutex_);
  return tail_;
}

AgentEnd AcpPeer::end() {
  StopPlan plan;
  plan.interrupt_wait = plan.close_wait = std::chrono::milliseconds(0);
  plan.terminate_wait = kAcpTerminateWait;
  process_->stop(std::move(plan));
  auto ended = process_->wait(kAcpTerminateWait + kKillWait * 2);
  if (ended) return *std::move(ended);
  process_->kill();
  return {};
}

bool AcpPeer::printed_too_much() const {
  MutexLock lock(mutex_);
  return too_much_;
}

AcpTranscript AcpPeer::transcript() const {
  MutexLock lock(mutex_);
  return lines_;
}

void AcpPeer::take(std::string text) {
  if (text.empty()) return;
  bytes_ += text.size();
  if (lines_.size() >= kMaxAcpLines || bytes_ > kMaxAcpBytes) {
    too_much_ = true;
    return;
  }
  AcpLine entry{.from_agent = true, .is_json = false, .text = std::move(text)};
  boost::system::error_code problem;
  json::parse_options parsing;
  parsing.max_depth = kMaxAcpDepth;
  json::value value = json::parse(entry.text, problem, {}, parsing);
  if (!problem) {
    entry.is_json = true;
    entry.json = std::move(value);
  }
  lines_.push_back(std::move(entry));
}

void AcpPeer::on_output(AgentStream stream, std::string_view bytes) {
  std::vector<std::string> lines;
  if (stream == AgentStream::out) splitter_.add(bytes, [&](const Line& line) { lines.emplace_back(line.text); });
  MutexLock lock(mutex_);
  if (stream == AgentStream::err) {
    tail_.append(bytes);
    if (tail_.size() > kStderrTailBytes) tail_.erase(0, tail_.size() - kStderrTailBytes);
    return;
  }
  for (std::string& line : lines) take(std::move(line));
  changed_.notify_all();
}

void AcpPeer::on_output_closed(AgentStream stream) {
  if (stream != AgentStream::out) return;
  std::string last;
  splitter_.finish([&](const Line& line) { last = line.text; });
  MutexLock lock(mutex_);
  take(std::move(last));
  output_ended_ = true;
  changed_.notify_all();
}

void AcpPeer::on_exit(const AgentExit& exit) {
  MutexLock lock(mutex_);
  exit_ = exit;
  changed_.notify_all();
}

void AcpPeer::on_end(const AgentEnd& /*end*/) {
  MutexLock lock(mutex_);
  output_ended_ = true;
  changed_.notify_all();
}

}  // namespace shepherd::harness
