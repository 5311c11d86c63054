// The connection to an agent that is an HTTP service of its own: a program that is started here, a stream of events,
// and requests one after the other (driver/http_envelope.h has the form of both).
//
// The program and everything it starts belong to an AgentProcess, which ends them on every path. Each task has a
// service of its own, because its tools inherit the task's environment and confinement. It listens on loopback, behind
// a password that is made here.
//
// A service does not end by itself: the end of our input ends it, after the requests that wait. If its stream ends
// first, so does the run.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "driver/driver.h"
#include "driver/http_envelope.h"
#include "driver/line_splitter.h"
#include "net/event_loop.h"
#include "net/http_call.h"
#include "net/whole_answer.h"
#include "process/agent_link.h"
#include "process/agent_process.h"
#include "runner/service_events.h"

namespace shepherd {

// Threads: any for public functions. What it tells its listener comes from the loop's thread or the program's, one call
// at a time.
class HttpLink final : public AgentLink, private AgentObserver, private net::EventLoop::Ticker {
 public:
  // Returns once the program runs; it is called when it says where. Errors are those of AgentProcess::start(). `spec`
  // has the program's command and environment; `listener` and `clock` must outlive the link.
  static Result<std::unique_ptr<HttpLink>> start(AgentSpec spec, HttpLaunch service, AgentObserver& listener,
                                                 const Clock& clock);
  ~HttpLink() override;  // kill(), then waits for the end

  const AgentProcess& process() const { return *process_; }  // after start()

  Result<void> write(std::string_view bytes) override EXCLUDES(mutex_);
  void close_input() override;
  void pause() override { process_->pause(); }
  void resume() override { process_->resume(); }
  void stop(StopPlan plan) override;
  void kill() override { process_->kill(); }
  std::int64_t last_output_ms() const override { return last_output_ms_; }

 private:
  HttpLink(HttpLaunch service, std::string password, AgentObserver& listener, const Clock& clock);

  // --- the program's thread ---
  void on_output(AgentStream stream, std::string_view bytes) override EXCLUDES(telling_);
  void on_end(const AgentEnd& end) override EXCLUDES(telling_);

  // --- the loop's thread ---
  std::chrono::milliseconds tick() override;
  void on_loop_stop() override;
  void listening(const std::string& address);
  void opened();
  void next_request();
  void event(std::string_view data);
  void answered(const HttpEnvelope& request, const Result<net::ClientResponse>& answer);
  void end_program() EXCLUDES(mutex_);
  void lost(std::string_view why);
  net::CallRequest call(std::string_view method, const std::string& path) const;
  void tell_record(std::string_view record) EXCLUDES(telling_);
  void tell_error(std::string_view line) EXCLUDES(telling_);

  const HttpLaunch service_;
  const std::string authorization_;
  AgentObserver& listener_;
  const Clock& clock_;
  std::atomic<std::int64_t> last_output_ms_;

  Mutex telling_;  // one call to the listener at a time
  bool over_ GUARDED_BY(telling_) = false;

  Mutex mutex_;
  std::size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  bool input_open_ GUARDED_BY(mutex_) = true;

  std::atomic<bool> ending_ = false;  // its work is done, and we end it
  std::atomic<bool> lost_ = false;    // it lives and cannot be reached
  std::atomic<bool> gone_ = false;    // the link is being destroyed

  // Owned by the program's thread.
  LineSplitter printed_;
  bool said_where_ = false;

  // Owned by the loop's thread.
  net::EventLoop loop_;
  net::HttpCaller caller_{loop_};
  net::Url base_;
  std::optional<ServiceEvents> events_;
  net::HttpCall stream_;
  bool open_ = false;  // the stream is
  std::deque<HttpEnvelope> requests_;
  std::optional<net::WholeAnswer> answer_;
  net::HttpCall request_;
  bool busy_ = false;         // a request has no answer
  bool input_ended_ = false;  // no more requests will come
  std::optional<StopPlan> plan_;
  std::int64_t start_by_ms_;           // it says where it is until then
  std::int64_t interrupt_by_ms_ = -1;  // the first rung of the ladder is over then; -1: it is not climbed

  std::thread thread_;  // runs the loop
  // Last: its thread uses all of the above. Set once, with the lock held; the loop can be there before it is.
  std::unique_ptr<AgentProcess> process_;
};

}  // namespace shepherd
