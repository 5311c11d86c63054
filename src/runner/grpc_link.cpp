#include "runner/grpc_link.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <thread>

#include "base/limits.h"
#include "driver/grpc/connect_advice.h"
#include "driver/limits.h"
#include "runner/grpc_call.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

std::shared_ptr<grpc::Channel> open_channel(const GrpcTarget& target) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kMaxAgentLineBytes));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(kAgentKeepalive.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(kAgentKeepaliveTimeout.count()));
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // an agent may think for a long time
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);     // a separate connection
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);             // agent addresses are literal
  // A call is made once; otherwise gRPC would retry forever a call that the agent rejects after the handshake.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Several attempts within the connect timeout, because an agent may be just starting.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, static_cast<int>(kAgentConnectLook.count()));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, static_cast<int>(10 * kAgentConnectLook.count()));
  if (!target.tls) return grpc::CreateCustomChannel(target.address, grpc::InsecureChannelCredentials(), arguments);
  if (!target.server_name.empty()) arguments.SetSslTargetNameOverride(target.server_name);
  grpc::SslCredentialsOptions options{target.ca_pem, target.key_pem, target.cert_pem};
  return grpc::CreateCustomChannel(target.address, grpc::SslCredentials(options), arguments);
}

}  // namespace

// Threads: any for public functions; everything else runs on its own thread.
class GrpcLink::Loop {
 public:
  Loop(GrpcTarget target, AgentObserver& listener, const Clock& clock)
      : target_(std::move(target)),
        listener_(listener),
        clock_(clock),
        call_(std::make_unique<Call>(target_, listener, clock)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Loop() {
    ask_kill();
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Call& call() { return *call_; }

  void ask_stop(StopPlan plan) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (!plan_) plan_ = std::move(plan);
    }
    call_->wake();
  }
  void ask_kill() EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      killed_ = true;
    }
    call_->wake();
  }

 private:
  void run() {
    // The main thread handles the program's signals.
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::shared_ptr<grpc::Channel> channel = open_channel(target_);
    if (auto failed = connect(*channel)) return end(*failed);
    call_->start(std::move(channel));
    while (!call_->ended()) {
      look();
      call_->wait(deadline_ms_ < 0 ? kRunTick : std::chrono::milliseconds(deadline_ms_ - clock_.steady_ms()));
    }
    end(*call_->ended());
  }

  // Returns the status of a call that cannot begin. If gRPC has a reason, the call begins anyway to obtain it.
  std::optional<grpc::Status> connect(grpc::Channel& channel) EXCLUDES(mutex_) {
    std::int64_t deadline_ms = clock_.steady_ms() + target_.connect_wait.count();
    for (;;) {
      grpc_connectivity_state state = channel.GetState(true);
      if (state == GRPC_CHANNEL_READY) {
        connected_ = true;
        return std::nullopt;
      }
      {
        MutexLock lock(mutex_);
        if (killed_ || plan_) {
          rung_ = StopRung::cancel;
          return grpc::Status(grpc::StatusCode::CANCELLED, "stopped before it was connected");
        }
      }
      if (clock_.steady_ms() >= deadline_ms) {
        if (state == GRPC_CHANNEL_TRANSIENT_FAILURE) return std::nullopt;
        return grpc::Status(grpc::StatusCode::UNAVAILABLE, "no answer from " + target_.address + " within " +
                                                               std::to_string(target_.connect_wait.count()) + " ms");
      }
      channel.WaitForStateChange(state, std::chrono::system_clock::now() + kAgentConnectLook);
    }
  }

  void look() EXCLUDES(mutex_) {
    bool killed = false;
    std::optional<StopPlan> plan;
    {
      MutexLock lock(mutex_);
      killed = killed_;
      plan = plan_;
    }
    if (killed && rung_ != StopRung::cancel) {
      cancel();
    } else if (plan && (rung_ == StopRung::none || (deadline_ms_ >= 0 && clock_.steady_ms() >= deadline_ms_))) {
      climb(*plan);
    }
  }

  // Goes to the next rung, or to the one after it if that one is left out.
  void climb(const StopPlan& plan) {
    switch (rung_) {
      case StopRung::none:
        rung_ = StopRung::interrupt;
        if (plan.interrupt_wait.count() > 0 && plan.interrupt && plan.interrupt()) {
          return wait_until_after(plan.interrupt_wait);
        }
        [[fallthrough]];
      case StopRung::interrupt:
        rung_ = StopRung::half_close;
        if (plan.sigint_wait.count() > 0) {
          call_->close_input();
          return wait_until_after(plan.sigint_wait);
        }
        [[fallthrough]];
      default:
        cancel();
    }
  }

  void cancel() {
    rung_ = StopRung::cancel;
    deadline_ms_ = -1;
    call_->cancel();
  }

  void wait_until_after(std::chrono::milliseconds wait) { deadline_ms_ = clock_.steady_ms() + wait.count(); }

  void end(const grpc::Status& status) {
    AgentEnd end;
    end.exit.code = status.error_code();
    end.rung = rung_;
    end.stream = StreamEnd{target_.address, status.error_code(), status.error_message()};
    if (!connected_) {
      ConnectAdvice advice = connect_advice(end.stream->message, target_.tls, !target_.cert_pem.empty());
      if (!advice.text.empty()) end.stream->message.append("; ").append(advice.text);
    }
    call_->close_input();
    listener_.on_end(end);
  }

  const GrpcTarget target_;
  AgentObserver& listener_;
  const Clock& clock_;
  const std::unique_ptr<Call> call_;

  // Owned by the thread.
  bool connected_ = false;
  StopRung rung_ = StopRung::none;
  std::int64_t deadline_ms_ = -1;  // of the rung; -1 if there is none

  Mutex mutex_;
  std::optional<StopPlan> plan_ GUARDED_BY(mutex_);
  bool killed_ GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last, because it uses all of the above
};

GrpcLink::GrpcLink(GrpcTarget target, AgentObserver& listener, const Clock& clock)
    : loop_(std::make_unique<Loop>(std::move(target), listener, clock)) {}
GrpcLink::~GrpcLink() = default;

Result<void> GrpcLink::write(std::string_view bytes) {
  return loop_->call().write(bytes);
}
void GrpcLink::close_input() {
  loop_->call().close_input();
}
void GrpcLink::stop(StopPlan plan) {
  loop_->ask_stop(std::move(plan));
}
void GrpcLink::kill() {
  loop_->ask_kill();
}
std::int64_t GrpcLink::last_output_ms() const {
  return loop_->call().last_output_ms();
}

}  // namespace shepherd
