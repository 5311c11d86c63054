#include "runner/grpc_link.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <csignal>
#include <utility>

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
  // By default gRPC retries forever a call that the agent rejects after the handshake.
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

GrpcLink::GrpcLink(GrpcTarget target, AgentObserver& listener, const Clock& clock)
    : target_(std::move(target)),
      listener_(listener),
      clock_(clock),
      call_(std::make_unique<GrpcCall>(target_, listener, clock)) {
  thread_ = std::thread([this] { run(); });
}

GrpcLink::~GrpcLink() {
  GrpcLink::kill();
  thread_.join();
}

Result<void> GrpcLink::write(std::string_view bytes) {
  return call_->write(bytes);
}

void GrpcLink::close_input() {
  call_->close_input();
}

void GrpcLink::stop(StopPlan plan) {
  {
    MutexLock lock(mutex_);
    if (!plan_) plan_ = std::move(plan);
  }
  call_->wake();
}

void GrpcLink::kill() {
  {
    MutexLock lock(mutex_);
    killed_ = true;
  }
  call_->wake();
}

std::int64_t GrpcLink::last_output_ms() const {
  return call_->last_output_ms();
}

void GrpcLink::run() {
  // The main thread takes the program's signals.
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

std::optional<grpc::Status> GrpcLink::connect(grpc::Channel& channel) {
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
        rung_ = StopRung::kill;
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

void GrpcLink::look() {
  bool killed = false;
  std::optional<StopPlan> plan;
  {
    MutexLock lock(mutex_);
    killed = killed_;
    plan = plan_;
  }
  if (killed && rung_ != StopRung::kill) {
    cancel();
  } else if (plan && (rung_ == StopRung::none || (deadline_ms_ >= 0 && clock_.steady_ms() >= deadline_ms_))) {
    climb(*plan);
  }
}

// Goes to the next rung that the plan does not leave out.
void GrpcLink::climb(const StopPlan& plan) {
  switch (rung_) {
    case StopRung::none:
      rung_ = StopRung::interrupt;
      if (plan.interrupt_wait.count() > 0 && plan.interrupt && plan.interrupt()) {
        return wait_until_after(plan.interrupt_wait);
      }
      [[fallthrough]];
    case StopRung::interrupt:
      rung_ = StopRung::close;
      if (plan.close_wait.count() > 0) {
        call_->close_input();
        return wait_until_after(plan.close_wait);
      }
      [[fallthrough]];
    default:
      cancel();
  }
}

void GrpcLink::cancel() {
  rung_ = StopRung::kill;
  deadline_ms_ = -1;
  call_->cancel();
}

void GrpcLink::end(const grpc::Status& status) {
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

}  // namespace shepherd
