#include "runner/http_link.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/base64.h"
#include "base/random.h"
#include "driver/limits.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

std::string new_password() {
  SystemRandom random;
  std::string password;
  for (int i = 0; i < 4; ++i) {
    for (std::uint64_t word = random.next(), digit = 0; digit < 16; ++digit, word >>= 4U) {
      password.push_back("0123456789abcdef"[word & 15U]);
    }
  }
  return password;
}

// With padding, which services insist on.
std::string basic_authorization(const std::string& user, const std::string& password) {
  std::string encoded = encode_base64(user + ":" + password);
  while (encoded.size() % 4 != 0) encoded.push_back('=');
  return "Basic " + encoded;
}

}  // namespace

Result<std::unique_ptr<HttpLink>> HttpLink::start(AgentSpec spec, HttpLaunch service, AgentObserver& listener,
                                                  const Clock& clock) {
  std::string password = new_password();
  if (!service.password_variable.empty()) spec.environment.push_back(service.password_variable + "=" + password);
  spec.with_stdin = false;
  std::unique_ptr<HttpLink> link(new HttpLink(std::move(service), password, listener, clock));
  MutexLock lock(link->mutex_);
  Result<std::unique_ptr<AgentProcess>> process = AgentProcess::start(spec, *link, clock);
  if (!process) return fail(std::move(process.error()));
  link->process_ = *std::move(process);
  return link;
}

HttpLink::HttpLink(HttpLaunch service, std::string password, AgentObserver& listener, const Clock& clock)
    : service_(std::move(service)),
      authorization_(basic_authorization(service_.user, password)),
      listener_(listener),
      clock_(clock),
      last_output_ms_(clock.steady_ms()),
      start_by_ms_(clock.steady_ms() + kServiceStartWait.count()) {
  thread_ = std::thread([this] {
    // The main thread takes the program's signals.
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    loop_.run();
  });
  loop_.post([this] { loop_.add_ticker(*this, kRunTick); });
}

HttpLink::~HttpLink() {
  gone_ = true;
  loop_.stop();
  thread_.join();
  process_.reset();  // ends it, and waits for the end
}

// --- the program's thread ---

// Everything that it prints is for the log; one line says where it can be called.
void HttpLink::on_output(AgentStream stream, std::string_view bytes) {
  if (stream == AgentStream::out && !said_where_) {
    printed_.add(bytes, [&](const Line& line) {
      std::size_t at = line.text.find(service_.ready);
      if (said_where_ || at == std::string_view::npos) return;
      said_where_ = true;
      loop_.post([this, address = std::string(line.text.substr(at + service_.ready.size()))] { listening(address); });
    });
  }
  MutexLock lock(telling_);
  listener_.on_output(AgentStream::err, bytes);
}

void HttpLink::on_end(const AgentEnd& end) {
  AgentEnd told = end;
  if (lost_ && end.by_ladder()) {
    told.exit = {1, 0};  // it would have gone on
    told.rung = StopRung::none;
  } else if (ending_ && end.by_ladder()) {
    told.exit = {};  // it has no other way to end
    told.rung = StopRung::none;
  }
  MutexLock lock(telling_);
  over_ = true;
  listener_.on_end(told);
}

// --- any thread ---

Result<void> HttpLink::write(std::string_view bytes) {
  {
    MutexLock lock(mutex_);
    if (!input_open_) return fail(ErrorCode::gone, "stdin_closed", "the agent takes no more requests");
    if (waiting_bytes_ + bytes.size() > kMaxStdinBytes) {
      return fail(ErrorCode::rate_limited, "stdin_full", "the agent does not take its requests");
    }
    waiting_bytes_ += bytes.size();
  }
  loop_.post([this, lines = std::string(bytes)] {
    std::string_view rest = lines;
    while (!rest.empty()) {
      std::size_t end = std::min(rest.find('\n'), rest.size());
      if (auto request = read_http_request(rest.substr(0, end))) requests_.push_back(*std::move(request));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    MutexLock lock(mutex_);
    waiting_bytes_ -= std::min(waiting_bytes_, lines.size());
  });
  loop_.post([this] { next_request(); });
  return {};
}

void HttpLink::close_input() {
  {
    MutexLock lock(mutex_);
    input_open_ = false;
  }
  loop_.post([this] {
    input_ended_ = true;
    next_request();
  });
}

// The first rung is the driver's; the others are the program's.
void HttpLink::stop(StopPlan plan) {
  loop_.post([this, plan = std::move(plan)]() mutable {
    if (plan_) return;
    plan_ = std::move(plan);
    if (open_ && plan_->interrupt_wait.count() > 0 && plan_->interrupt && plan_->interrupt()) {
      interrupt_by_ms_ = clock_.steady_ms() + plan_->interrupt_wait.count();
      return;
    }
    end_program();
  });
}

// --- the loop's thread ---

std::chrono::milliseconds HttpLink::tick() {
  std::int64_t now_ms = clock_.steady_ms();
  if (!open_ && start_by_ms_ >= 0 && now_ms >= start_by_ms_) {
    start_by_ms_ = -1;
    lost("the service did not say within " + std::to_string(kServiceStartWait.count() / 1'000) + " s where it is");
  }
  if (interrupt_by_ms_ >= 0 && now_ms >= interrupt_by_ms_) end_program();
  return kServiceLook;
}

void HttpLink::on_loop_stop() {
  loop_.remove_ticker(*this);
  stream_.cancel();
  request_.cancel();
}

void HttpLink::listening(const std::string& address) {
  Result<net::Url> url = net::parse_url(address);
  if (!url) return lost("the service says that it is at " + address + ", which is no address");
  base_ = *std::move(url);
  net::CallRequest stream = call("GET", service_.events);
  stream.headers.emplace_back("Accept", "text/event-stream");
  stream.timeouts.idle = {};  // an agent may think for a long time
  events_.emplace(ServiceEvents::Sinks{[this] { opened(); }, [this](std::string_view data) { event(data); },
                                       [this](std::string_view why) { lost(why); }});
  stream_ = caller_.start(std::move(stream), *events_);
}

void HttpLink::event(std::string_view data) {
  constexpr std::size_t kHeartbeatBytes = 1'024;  // it says nothing else
  bool lives = !service_.heartbeat.empty() && data.size() < kHeartbeatBytes && data.contains(service_.heartbeat);
  if (!lives) tell_record(http_event_record(data));
}

void HttpLink::opened() {
  open_ = true;
  tell_record(http_open_record());
  next_request();
}

net::CallRequest HttpLink::call(std::string_view method, const std::string& path) const {
  net::CallRequest request;
  request.method = method;
  request.url = base_;
  request.url.target = path;
  request.headers.emplace_back("Authorization", authorization_);
  return request;
}

// One after the other: their order is that of the driver.
void HttpLink::next_request() {
  if (!open_ || busy_) {
    if (input_ended_ && !open_) end_program();
    return;
  }
  if (requests_.empty()) {
    if (input_ended_) end_program();
    return;
  }
  busy_ = true;
  HttpEnvelope next = std::move(requests_.front());
  requests_.pop_front();
  net::CallRequest request = call(next.method, next.path);
  if (!next.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  request.body = own_bytes(next.body);
  net::ClientBounds bounds;
  bounds.max_response_bytes = kMaxAgentLineBytes;
  answer_.emplace(
      bounds, [this, next = std::move(next)](const Result<net::ClientResponse>& answer) { answered(next, answer); });
  request_ = caller_.start(std::move(request), *answer_);
}

void HttpLink::answered(const HttpEnvelope& request, const Result<net::ClientResponse>& answer) {
  tell_record(answer ? http_answer_record(request, answer->status, answer->body)
                     : http_failure_record(request, answer.error().message));
  // Not here: what is called now is about to be replaced.
  loop_.post([this] {
    busy_ = false;
    next_request();
  });
}

void HttpLink::end_program() {
  if (!plan_) {
    ending_ = true;
    plan_ = StopPlan{};
  }
  interrupt_by_ms_ = -1;
  StopPlan plan = *plan_;
  plan.interrupt = nullptr;
  MutexLock lock(mutex_);
  if (process_ != nullptr) process_->stop(std::move(plan));
}

void HttpLink::lost(std::string_view why) {
  if (plan_ || gone_) return;  // it ends because it was asked to
  lost_ = true;
  tell_error(why);
  end_program();
}

void HttpLink::tell_record(std::string_view record) {
  last_output_ms_ = clock_.steady_ms();
  MutexLock lock(telling_);
  if (!over_) listener_.on_record(record);
}

void HttpLink::tell_error(std::string_view line) {
  MutexLock lock(telling_);
  if (!over_) listener_.on_output(AgentStream::err, std::string(line) + "\n");
}

}  // namespace shepherd
