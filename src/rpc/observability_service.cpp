#include "rpc/observability_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "rpc/event_frames.h"
#include "rpc/event_stream.h"
#include "rpc/proto_time.h"
#include "rpc/status_map.h"
#include "rpc/stream_plan.h"
#include "rpc/views.h"
#include "store/task_match.h"
#include "views/session_tasks.h"

namespace shepherd {
namespace {

namespace v1 = observability::v1;

Result<v1::StreamEventsRequest> decode(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer copy(bytes);  // shares the bytes; decoding empties the buffer
  v1::StreamEventsRequest request;
  if (!grpc::SerializationTraits<v1::StreamEventsRequest>::Deserialize(&copy, &request).ok()) {
    return fail(ErrorCode::invalid_argument, "bad_request", "the request is not a StreamEventsRequest");
  }
  return request;
}

// Whose turns in a lane the call takes.
std::string lane_caller(const CallTrail& trail) {
  return trail.principal->token_id.empty() ? trail.peer : trail.principal->token_id;
}

Error busy() {
  return {ErrorCode::unavailable,
          "busy",
          "more calls are waiting for the store than the server takes; call again in a moment",
          {}};
}

v1::AgentEvent message_of(const SessionEvent& event) {
  std::string frame;
  rpc_task_frames().event(frame, *event.batch, event.index);
  auto place = frame_at(frame, 0);
  v1::AgentEvent message;
  message.ParseFromArray(frame.data() + place->begin, static_cast<int>(place->end - place->begin));
  return message;
}

Result<void> fill_session(v1::SessionDetails& answer, const EventStore& store, const v1::GetSessionRequest& request) {
  auto tasks = tasks_of_session(store, request.session_id());
  if (!tasks) return fail(tasks.error());
  const TaskRow& newest = tasks->front();
  answer.set_session_id(request.session_id());
  answer.set_workflow_id(newest.spec.workflow_id);
  answer.set_status(std::string(name(newest.state.state)));
  bool running = false;
  Usage total;
  for (const TaskRow& task : *tasks) {
    fill_agent(*answer.add_agents(), task);
    auto used = task.state.usage_by_session.find(request.session_id());
    if (used != task.state.usage_by_session.end()) total += used->second;
    running = running || !is_terminal(task.state.state);
  }
  fill_usage(*answer.mutable_usage(), total);
  const TaskRow& oldest = tasks->back();
  if (oldest.state.started_ms != 0) set_time(*answer.mutable_started_at(), oldest.state.started_ms);
  if (!running) set_time(*answer.mutable_completed_at(), newest.state.completed_ms);
  if (request.events() <= 0) return {};
  auto events = events_of_session(store, *tasks, request.session_id(),
                                  std::min<std::size_t>(static_cast<std::size_t>(request.events()), kMaxSessionEvents));
  if (!events) return fail(events.error());
  for (const SessionEvent& event : *events) *answer.add_events() = message_of(event);
  return {};
}

Result<void> fill_list(v1::AgentList& answer, const EventStore& store, const v1::ListAgentsRequest& request) {
  TaskFilter filter;
  filter.active = request.active();
  filter.agent = request.agent();
  filter.workflow = request.workflow_id();
  filter.before = request.page_token();
  if (!request.state().empty()) {
    filter.state = state_named(request.state());
    if (!filter.state) {
      return fail(ErrorCode::invalid_argument, "bad_request", "there is no state \"" + request.state() + "\"");
    }
  }
  if (request.page_size() > 0) {
    filter.limit = std::min<std::size_t>(static_cast<std::size_t>(request.page_size()), kMaxTaskPage);
  }
  std::size_t wanted = filter.limit++;  // one more shows whether another page follows
  auto tasks = store.rows(filter);
  if (!tasks) return fail(tasks.error());
  for (std::size_t i = 0; i < std::min(wanted, tasks->size()); ++i) fill_agent(*answer.add_agents(), (*tasks)[i]);
  if (tasks->size() > wanted) answer.set_next_page_token(place_after((*tasks)[wanted - 1]));
  return {};
}

}  // namespace

ObservabilityService::ObservabilityService(const RpcParts& parts, Callers& callers, EventStreams& streams)
    : parts_(parts), callers_(callers), streams_(streams) {}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ObservabilityService::StreamEvents(grpc::CallbackServerContext* context,
                                                                               const grpc::ByteBuffer* request) {
  CallTrail trail = callers_.trail(*context, "StreamEvents");
  auto principal = callers_.identify(*context);
  if (principal) trail.principal = *principal;
  std::string caller = principal ? lane_caller(trail) : std::string();
  auto* stream = new EventStream(streams_, *context, std::move(trail));
  auto refuse = [stream](const Error& error) {
    stream->refuse(error);
    return stream;
  };
  if (!principal) return refuse(principal.error());
  auto decoded = decode(*request);
  if (!decoded) return refuse(decoded.error());
  if (auto added = streams_.add(*stream); !added) return refuse(added.error());
  Executor& executor = *parts_.executors[next_executor_.fetch_add(1) % parts_.executors.size()];
  parts_.lanes.feeds.offer(caller, [this, stream, &executor, decoded = *std::move(decoded)](Turn turn) {
    if (turn == Turn::refused) return stream->refuse(busy());
    auto plan = plan_stream(parts_.journal.store(), decoded);
    if (!plan) return stream->refuse(plan.error());
    executor.post([stream, &executor, plan = *std::move(plan)]() mutable { stream->open(std::move(plan), executor); });
  });
  return stream;
}

grpc::ServerUnaryReactor* ObservabilityService::answer_with(grpc::CallbackServerContext& context,
                                                            std::string_view method, Lane& lane,
                                                            std::function<Result<void>()> work) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  CallTrail trail = callers_.trail(context, method);
  auto finish = [this, reactor, &context](const CallTrail& who, const Result<void>& done) {
    grpc::Status status = done ? grpc::Status::OK : grpc_status(context, done.error());
    callers_.record(who, status, 0);
    reactor->Finish(status);
  };
  auto principal = callers_.identify(context);
  if (!principal) {
    finish(trail, fail(principal.error()));
    return reactor;
  }
  trail.principal = *principal;
  std::string caller = lane_caller(trail);
  lane.offer(caller, [finish, &lane, &context, trail = std::move(trail), work = std::move(work)](Turn turn) {
    if (turn == Turn::refused) return finish(trail, fail(busy()));
    if (turn == Turn::waited && context.IsCancelled()) {
      lane.count_abandoned();
      return finish(trail, fail(ErrorCode::unavailable, "client_gone", "the call was cancelled before its turn came"));
    }
    finish(trail, work());
  });
  return reactor;
}

grpc::ServerUnaryReactor* ObservabilityService::GetSession(grpc::CallbackServerContext* context,
                                                           const v1::GetSessionRequest* request,
                                                           v1::SessionDetails* answer) {
  return answer_with(*context, "GetSession", parts_.lanes.scans,
                     [this, request, answer] { return fill_session(*answer, parts_.journal.store(), *request); });
}

grpc::ServerUnaryReactor* ObservabilityService::ListAgents(grpc::CallbackServerContext* context,
                                                           const v1::ListAgentsRequest* request,
                                                           v1::AgentList* answer) {
  return answer_with(*context, "ListAgents", parts_.lanes.queries,
                     [this, request, answer] { return fill_list(*answer, parts_.journal.store(), *request); });
}

grpc::ServerUnaryReactor* ObservabilityService::GetMetrics(grpc::CallbackServerContext* context,
                                                           const v1::GetMetricsRequest* request,
                                                           v1::MetricsSnapshot* answer) {
  return answer_with(*context, "GetMetrics", parts_.lanes.queries, [this, request, answer]() -> Result<void> {
    set_time(*answer->mutable_at(), parts_.clock.wall_ms());
    fill_metrics(*answer, parts_.metrics, request->name_prefix());
    return {};
  });
}

}  // namespace shepherd
