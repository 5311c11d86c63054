#include "stream_service.h"

#include "dialect.h"

namespace shepherd::agent {
namespace pb = gibson::agent;
namespace {

std::string metadata(const grpc::CallbackServerContext& context, const char* key) {
  auto found = context.client_metadata().find(key);
  return found == context.client_metadata().end() ? std::string()
                                                  : std::string(found->second.data(), found->second.size());
}

// Takes the same time wherever the first difference is.
bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned char difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i % wanted.size()]);
  }
  return difference == 0;
}

// One call. It owns itself until OnDone; a later wake-up finds it gone and does nothing. Only take_next() leads to a
// write or to Finish, one at a time, so gRPC's rule of one outstanding write holds on any thread.
class Call final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                   public std::enable_shared_from_this<Call> {
 public:
  Call(grpc::CallbackServerContext* context, std::shared_ptr<Conversation> conversation, Streams& streams)
      : context_(context), conversation_(std::move(conversation)), streams_(streams) {}

  void open(bool admitted) {
    self_ = shared_from_this();
    conversation_->on_wake([weak = weak_from_this()] {
      if (auto call = weak.lock()) call->pump();
    });
    if (admitted) StartRead(&incoming_);
  }
  void refuse(grpc::StatusCode code, std::string text) { conversation_->refuse(code, std::move(text)); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      if (!started_) {
        conversation_->refuse(grpc::StatusCode::INVALID_ARGUMENT, "the stream ended before its start message");
      }
      conversation_->half_closed();
      return;
    }
    if (!started_) {
      started_ = true;
      if (!start()) return;
      streams_.begin_work(conversation_);
    } else {
      pb::ClientMessage message;
      if (!read_later(incoming_, message)) return conversation_->half_closed();
      conversation_->receive(message);
    }
    if (conversation_->may_read()) StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    if (conversation_->write_done(ok)) StartRead(&incoming_);
  }
  void OnCancel() override { conversation_->stop(StopReason::cancelled); }
  void OnDone() override {
    streams_.closed(conversation_);
    self_.reset();
  }

 private:
  bool start() {
    pb::ClientMessage message;
    std::optional<Dialect> dialect = read_first(incoming_, message);
    if (!dialect) {
      conversation_->refuse(grpc::StatusCode::INVALID_ARGUMENT,
                            "the first message can be read in neither dialect: gibson/agent.proto, typed_agent.proto");
      return false;
    }
    dialect_ = *dialect;
    return conversation_->start(message);
  }

  void pump() {
    NextStep next = conversation_->take_next();
    switch (next.kind) {
      case NextStep::Kind::nothing:
        break;
      case NextStep::Kind::write:
        outgoing_ = written(next.message, dialect_);
        StartWrite(&outgoing_);
        break;
      case NextStep::Kind::finish:
        Finish(grpc::Status(static_cast<grpc::StatusCode>(next.status), next.status_text));
        break;
      case NextStep::Kind::cancel:
        context_->TryCancel();
        conversation_->cancel_done();
        break;
    }
  }

  grpc::CallbackServerContext* context_;
  std::shared_ptr<Conversation> conversation_;
  Streams& streams_;
  std::shared_ptr<Call> self_;
  grpc::ByteBuffer incoming_, outgoing_;
  Dialect dialect_ = Dialect::json;  // set by the first message, before the first write
  bool started_ = false;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamService::StreamExecute(
    grpc::CallbackServerContext* context) {
  std::optional<TraceContext> trace = TraceContext::continued(metadata(*context, "traceparent"));
  auto conversation = std::make_shared<Conversation>(options_, trace ? *trace : TraceContext::fresh(), metrics_);
  auto call = std::make_shared<Call>(context, conversation, streams_);
  bool known = options_.token.empty() || same_secret(metadata(*context, "authorization"), "Bearer " + options_.token);
  bool admitted = known && streams_.admit(conversation);
  call->open(admitted);
  if (!known) {
    call->refuse(grpc::StatusCode::UNAUTHENTICATED, "this agent wants a bearer token");
  } else if (!admitted) {
    call->refuse(grpc::StatusCode::RESOURCE_EXHAUSTED, "this agent takes no more streams now");
  }
  return call.get();
}

}  // namespace shepherd::agent
