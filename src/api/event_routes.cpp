// Events from producers. The hot path decodes on the io thread, appends, and answers from the writer's thread.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "api/approval_guard.h"
#include "api/handlers.h"
#include "api/lease_header.h"
#include "api/limits.h"
#include "chat/chats.h"
#include "chat/completion_log.h"
#include "json/write.h"
#include "model/task_fold.h"
#include "model/wire_json.h"
#include "redact/redacted_name.h"

namespace shepherd {
namespace {

Intake intake_of(const ApiParts& parts, std::int64_t now_ms) {
  Intake intake;
  intake.redactor = parts.redaction();
  intake.condense = &parts.condense;
  intake.now_ms = now_ms;
  intake.keep_detail = parts.config.keep_detail;
  return intake;
}

std::string accepted(std::uint64_t sequence, std::uint64_t producer_sequence) {
  std::string body;
  body.reserve(96);
  auto append_number = [&](std::uint64_t number) {
    char digits[20];
    body.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  };
  body += R"({"status":"accepted","sequence":)";
  append_number(sequence);
  body += R"(,"producerSequence":)";
  append_number(producer_sequence);
  body += '}';
  return body;
}

// The header makes a producer strict; without it, the producer's numbers are loose.
Result<Producer> producer_of(const Call& call, const DraftBatch& batch) {
  std::string_view id = call.request().header("shepherd-producer");
  if (id.empty()) {
    for (const Draft& draft : batch.drafts) {
      if (draft.producer_sequence != 0) return Producer{ProducerKind::loose, {}};
    }
    return Producer{ProducerKind::none, {}};
  }
  if (id.size() > kMaxProducerIdBytes) {
    return fail(ErrorCode::invalid_argument, "bad_producer",
                "Shepherd-Producer is longer than " + std::to_string(kMaxProducerIdBytes) + " bytes.");
  }
  for (std::size_t i = 0; i < batch.drafts.size(); ++i) {
    if (batch.drafts[i].producer_sequence == 0) {
      return fail(Error{
          ErrorCode::invalid_argument,
          "missing_sequence",
          "A producer that names itself numbers its events from 1: `sequence` is missing.",
          {}}.with("index", static_cast<std::int64_t>(i)));
    }
  }
  return Producer{ProducerKind::strict, redacted_name(id, call.parts().redaction())};
}

// Such a producer does not retry, so the server accepts its events even if the task's end overtook them. Producers with
// event ids import or report again, so they do retry.
bool fires_and_forgets(const Producer& producer, const DraftBatch& batch) {
  if (producer.kind == ProducerKind::strict) return false;
  return std::ranges::all_of(batch.drafts, [](const Draft& draft) { return draft.event_id.empty(); });
}

// Returns the connection's audit trail for this task. Only on the io thread.
std::shared_ptr<ProducerTrail> trail_of(const Call& call) {
  ConnectionState* connection = call.connection();
  if (connection == nullptr) return nullptr;
  if (connection->trail == nullptr || !connection->trail->goes_on(call.principal(), call.id())) {
    connection->trail = std::make_shared<ProducerTrail>(call.parts().audit, call.parts().clock, call.principal(),
                                                        call.id(), call.audit_record());
  }
  return connection->trail;
}

// If a runner names its lease, the commit refuses the post if another runner has the task.
Result<std::optional<LeaseFence>> fence_of(const Call& call) {
  auto epoch = lease_header(call.request());
  if (!epoch) return fail(epoch.error());
  return *epoch ? std::optional(LeaseFence{**epoch}) : std::nullopt;
}

// A post that can be read renews its task's lease. If the runner names its lease, it renews only that one.
void renew_by_post(const Call& call, const std::optional<LeaseFence>& fence) {
  Leases& leases = call.parts().steering.leases();
  fence ? leases.touch(call.id(), fence->epoch) : leases.touch(call.id());
}

// The server alone writes the logs of the agents that run in it: what a chat session holds in memory is the fold of its
// log, and a foreign message in it would be one that it does not know. Blocks on a read.
Result<void> check_writer(const Call& call) {
  auto task = call.parts().journal.store().row(call.id());
  if (!task) return {};  // the append reports it
  bool own = call.parts().chats != nullptr && (task->spec.agent == kChatAgent || task->spec.agent == kApiCallAgent);
  if (!own) return {};
  return fail(ErrorCode::conflict, "server_writes",
              "The server itself writes the log of this task, because its agent \"" + task->spec.agent +
                  "\" runs in the server. Send it a command, or a prompt with POST /sessions/" + call.id() +
                  "/request.");
}

void append(Call call, std::shared_ptr<ProducerTrail> trail, AppendRequest request) {
  Journal& journal = call.parts().journal;
  journal.append(std::move(request),
                 [call = std::move(call), trail = std::move(trail)](Result<Appended> appended) mutable {
                   if (!appended) return call.fail(appended.error());
                   if (trail != nullptr) {
                     trail->posted(appended->last_sequence - appended->added + 1, appended->last_sequence);
                     call.skip_audit();
                   }
                   call.send_json(200, accepted(appended->last_sequence, appended->producer_sequence));
                 });
}

void append_events(Call call, std::optional<LeaseFence> fence, std::shared_ptr<ProducerTrail> trail) {
  ApiParts& parts = call.parts();
  std::int64_t now_ms = parts.clock.wall_ms();
  Framing framing =
      call.request().header("content-type").find("ndjson") != std::string_view::npos ? Framing::ndjson : Framing::json;
  auto batch = decode_events(call.request().body, framing, intake_of(parts, now_ms));
  if (!batch) return call.fail(batch.error());
  auto producer = producer_of(call, *batch);
  if (!producer) return call.fail(producer.error());
  renew_by_post(call, fence);

  AppendRequest request;
  request.task = call.id();
  if (fires_and_forgets(*producer, *batch)) request.late_within_ms = kLateEvents.count();
  request.producer = std::move(*producer);
  request.drafts = std::move(*batch);
  request.received_ms = now_ms;
  request.fence = fence;
  call.drop_request();  // on this thread, not on the writer's
  if (!has_approvals(request.drafts)) return append(std::move(call), std::move(trail), std::move(request));
  Call::on_lane(
      &Lanes::intake, std::move(call), [trail = std::move(trail), request = std::move(request)](Call asked) mutable {
        auto may = check_approvals(asked.parts().journal.store(), request.task, request.drafts, request.producer.id);
        if (!may) return asked.fail(may.error());
        append(std::move(asked), std::move(trail), std::move(request));
      });
}

// Reporting the same terminal state again succeeds; a different one fails.
void answer_ended(Call call, State wanted, Error error) {
  std::string current;
  for (const ErrorField& field : error.fields) {
    const auto* text = std::get_if<std::string>(&field.value);
    if (text != nullptr && field.name == "currentState") current = *text;
  }
  if (!is_terminal(wanted)) return call.fail(error);
  if (current != name(wanted)) {
    error.code = ErrorCode::conflict;
    error.message = "The task has already ended as " + current + ".";
    return call.fail(error);
  }
  Call::on_lane(&Lanes::intake, std::move(call), [](Call on_lane) {
    auto heads = on_lane.parts().journal.store().heads({on_lane.id()});
    if (!heads) return on_lane.fail(heads.error());
    auto head = heads->find(on_lane.id());
    on_lane.send_json(200, accepted(head == heads->end() ? 0 : head->second, 0));
  });
}

}  // namespace

void post_events(Call call) {
  auto fence = fence_of(call);
  if (!fence) return call.fail(fence.error());
  auto trail = trail_of(call);
  bool admitted = trail != nullptr && trail->admitted();
  if (admitted && call.request().body.size() <= kInlineDecodeBytes) {
    return append_events(std::move(call), *fence, std::move(trail));
  }
  Call::on_lane(&Lanes::intake, std::move(call),
                [fence = *fence, admitted, trail = std::move(trail)](Call on_lane) mutable {
                  if (!admitted) {
                    if (auto may = check_writer(on_lane); !may) return on_lane.fail(may.error());
                    if (trail != nullptr) trail->admit();
                  }
                  append_events(std::move(on_lane), fence, std::move(trail));
                });
}

void post_status(Call call) {
  auto fence = fence_of(call);
  if (!fence) return call.fail(fence.error());
  ApiParts& parts = call.parts();
  std::int64_t now_ms = parts.clock.wall_ms();
  auto batch = decode_status_update(call.request().body, intake_of(parts, now_ms));
  if (!batch) return call.fail(batch.error());
  renew_by_post(call, *fence);
  State wanted = State::running;
  for (const Draft& draft : batch->drafts) wanted = end_state_of(draft.type, batch->body(draft));

  AppendRequest request;
  request.task = call.id();
  request.drafts = std::move(*batch);
  request.received_ms = now_ms;
  request.fence = *fence;
  if (!is_terminal(wanted)) request.late_within_ms = kLateEvents.count();
  Call::on_lane(&Lanes::intake, std::move(call), [request = std::move(request), wanted](Call on_lane) mutable {
    if (auto may = check_writer(on_lane); !may) return on_lane.fail(may.error());
    Journal& journal = on_lane.parts().journal;
    journal.append(std::move(request), [call = std::move(on_lane), wanted](Result<Appended> appended) mutable {
      if (appended) {
        call.set_range(appended->last_sequence - appended->added + 1, appended->last_sequence);
        return call.send_json(200, accepted(appended->last_sequence, appended->producer_sequence));
      }
      if (appended.error().code == ErrorCode::gone) return answer_ended(std::move(call), wanted, appended.error());
      call.fail(appended.error());
    });
  });
}

namespace {

void publish_deltas(Call call, const std::optional<LeaseFence>& fence) {
  ApiParts& parts = call.parts();
  auto deltas = decode_deltas(call.request().body, intake_of(parts, parts.clock.wall_ms()));
  if (!deltas) return call.fail(deltas.error());
  renew_by_post(call, fence);
  for (std::string& delta : *deltas) parts.journal.publish_delta(call.id(), std::move(delta));
  call.skip_audit();  // live text is best effort and is not stored
  call.send_json(202, R"({"status":"accepted"})");
}

}  // namespace

void post_deltas(Call call) {
  auto fence = fence_of(call);
  if (!fence) return call.fail(fence.error());
  if (!*fence || call.parts().steering.leases().knows(call.id(), (*fence)->epoch)) {
    return publish_deltas(std::move(call), *fence);
  }
  // No commit decides about live text, so the task's row does.
  Call::on_lane(&Lanes::intake, std::move(call), [fence = **fence](Call on_lane) {
    auto task = on_lane.parts().journal.store().row(on_lane.id());
    if (!task && task.error().code != ErrorCode::not_found) return on_lane.fail(task.error());
    bool has_it = task && is_leased(task->state) && task->state.lease_epoch == fence.epoch;
    if (!has_it) return on_lane.fail(lease_lost());
    publish_deltas(std::move(on_lane), fence);
  });
}

}  // namespace shepherd
