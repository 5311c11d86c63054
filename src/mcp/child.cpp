#include "mcp/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/log.h"
#include "mcp/limits.h"
#include "process/limits.h"
#include "process/lost_warden.h"
#include "process/warden_wire.h"

namespace shepherd {
namespace {

using std::chrono::steady_clock;

// The warden has lost its socket and ends its processes. True if it is gone in time.
bool reap_warden(pid_t warden) {
  auto until = steady_clock::now() + kMcpKillWait;
  while (true) {
    pid_t got = ::waitpid(warden, nullptr, WNOHANG);
    if (got != 0) break;  // reaped, or not ours
    if (steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kMcpReapPause);
  }
  release_warden(warden, false);
  return true;
}

}  // namespace

std::shared_ptr<McpChild> McpChild::start(McpChildParts parts, AgentSpec spec, McpChildObserver& observer) {
  std::shared_ptr<McpChild> child(new McpChild(parts, observer));
  child->launch(std::move(spec));
  return child;
}

McpChild::McpChild(McpChildParts parts, McpChildObserver& observer)
    : parts_(parts),
      observer_(&observer),
      in_(*this, Stream::in),
      out_(*this, Stream::out),
      err_(*this, Stream::err),
      warden_(*this, Stream::warden),
      deadline_(parts.timers, [this] { time_passed(); }) {}

McpChild::~McpChild() {
  if (!thread_.joinable()) return;
  // The thread itself has the last hold on this object if the loop has ended meanwhile.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void McpChild::launch(AgentSpec spec) {
  thread_ = std::thread([spec = std::move(spec), weak = weak_from_this(), &loop = parts_.loop] {
    Result<LaunchedAgent> result = launch_agent(spec);
    loop.post([weak, result = std::move(result)]() mutable {
      if (auto self = weak.lock()) return self->launched(std::move(result));
      if (!result) return;
      pid_t warden = result->warden;
      result = fail(ErrorCode::gone, "cannot_start", "");  // closes the warden's socket
      reap_warden(warden);
    });
  });
}

void McpChild::launched(Result<LaunchedAgent> result) {
  thread_.join();
  if (!result) return finish(result.error().message);
  agent_ = *std::move(result);
  if (phase_ == Phase::over) return abandon_warden();
  phase_ = Phase::running;
  net::EventLoop& loop = parts_.loop;
  bool watched = loop.watch(agent_->in.get(), in_) && loop.watch(agent_->out.get(), out_) &&
                 loop.watch(agent_->err.get(), err_) &&
                 loop.watch(agent_->socket.get(), warden_, net::EventLoop::Trigger::level);
  if (!watched) return warden_lost();
  if (kill_asked_) return kill();
  if (end_asked_) return end();
  write_input();
}

bool McpChild::write(std::string_view bytes) {
  if (!input_open_ || phase_ > Phase::running || end_asked_) return false;
  if (input_.size() + bytes.size() > kMaxMcpInputBytes) return false;
  input_ += bytes;
  if (agent_) write_input();
  return true;
}

void McpChild::ready(Stream stream) {
  auto self = shared_from_this();
  if (!agent_) return;
  if (stream == Stream::in) return write_input();
  if (stream == Stream::warden) return hear_warden();
  read_output(stream == Stream::out ? agent_->out : agent_->err, stream);
}

void McpChild::read_output(Descriptor& from, Stream stream) {
  std::string buffer(kAgentReadBytes, '\0');  // not the loop's: the observer may read from others
  for (int reads = 0; from && reads < kAgentReadsPerTurn; ++reads) {
    ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return unwatch(from);
    if (observer_ == nullptr) continue;
    std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    if (stream == Stream::out) {
      observer_->on_child_output(bytes);
    } else {
      observer_->on_child_errors(bytes);
    }
  }
  // The others get their turn first.
  if (from) {
    parts_.loop.post([self = shared_from_this(), stream] { self->ready(stream); });
  }
}

void McpChild::write_input() {
  while (!input_.empty() && agent_->in) {
    ssize_t written = ::write(agent_->in.get(), input_.data(), input_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) return close_input();
    input_.erase(0, static_cast<std::size_t>(written));
  }
}

void McpChild::close_input() {
  input_open_ = false;
  input_.clear();
  if (agent_) unwatch(agent_->in);
}

void McpChild::unwatch(Descriptor& descriptor) {
  if (!descriptor) return;
  parts_.loop.unwatch(descriptor.get());
  descriptor.reset();
  parts_.loop.post([self = shared_from_this()] {});  // events for it may be pending
}

void McpChild::end() {
  end_asked_ = true;
  if (phase_ != Phase::running) return;
  close_input();
  phase_ = Phase::closing;
  deadline_.arm(steady_clock::now() + kMcpExitWait);
}

void McpChild::kill() {
  kill_asked_ = end_asked_ = true;
  if (phase_ == Phase::starting || phase_ >= Phase::killing) return;
  close_input();
  phase_ = Phase::killing;
  send_message(agent_->socket.get(), {WardenVerb::end, {kMcpKillWait.count()}, {}});
  deadline_.arm(steady_clock::now() + 2 * kMcpKillWait);
}

void McpChild::time_passed() {
  auto self = shared_from_this();
  if (phase_ == Phase::closing) {
    phase_ = Phase::terminating;
    send_message(agent_->socket.get(), {WardenVerb::signal_group, {SIGTERM}, {}});
    deadline_.arm(steady_clock::now() + kMcpTerminateWait);
  } else if (phase_ == Phase::terminating) {
    kill();
  } else if (phase_ == Phase::killing) {
    log_error("mcp: the warden {} does not answer; its program is ended without it", agent_->warden);
    warden_lost();
  }
}

// A warden's messages are short, and it sends each at once.
void McpChild::hear_warden() {
  if (phase_ == Phase::lost || phase_ == Phase::over) return;
  auto message = receive_message(agent_->socket.get());
  if (!message) return warden_lost();
  if (message->verb == WardenVerb::exited && message->numbers.size() == 2) {
    exit_ = AgentExit{static_cast<int>(message->numbers[0]), static_cast<int>(message->numbers[1])};
    read_output(agent_->out, Stream::out);
    read_output(agent_->err, Stream::err);
    return kill();  // what it has left behind
  }
  auto ended = decode_end(*message);
  if (!ended) return warden_lost();
  pid_t warden = agent_->warden;
  bool stuck = !ended->left.empty();
  if (stuck) log_error("mcp: {} processes of {} could not be ended", ended->left.size(), agent_->agent);
  release_warden(warden, stuck);
  finish(describe(exit_.value_or(ended->exit)));
}

void McpChild::warden_lost() {
  phase_ = Phase::lost;
  deadline_.disarm();
  for (Descriptor* each : {&agent_->in, &agent_->out, &agent_->err, &agent_->socket}) unwatch(*each);
  ::kill(agent_->warden, SIGKILL);
  thread_ =
      std::thread([agent = std::move(*agent_), self = shared_from_this(), &clock = parts_.clock, &loop = parts_.loop] {
        release_warden(agent.warden, false);
        AgentEnd end = end_orphans(agent, kMcpKillWait, clock);
        loop.post([self, how = describe(end.exit)]() mutable {
          self->thread_.join();
          self->finish(std::move(how));
        });
      });
  agent_.reset();
}

void McpChild::finish(std::string how) {
  phase_ = Phase::over;
  deadline_.disarm();
  close_input();
  if (agent_) {
    for (Descriptor* each : {&agent_->out, &agent_->err, &agent_->socket}) unwatch(*each);
    agent_.reset();
  }
  if (McpChildObserver* observer = std::exchange(observer_, nullptr)) observer->on_child_end(std::move(how));
}

void McpChild::abandon() {
  observer_ = nullptr;
  if (phase_ == Phase::over || phase_ == Phase::lost) return;
  if (agent_) return abandon_warden();
  finish("");
}

// It ends everything once its socket is closed.
void McpChild::abandon_warden() {
  pid_t warden = agent_->warden;
  finish("");
  if (!reap_warden(warden)) log_error("mcp: the warden {} does not end", warden);
}

}  // namespace shepherd
