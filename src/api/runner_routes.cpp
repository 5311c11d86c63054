// Requests of runners: claim a task, renew its lease, read its data.
#include <utility>

#include "api/handlers.h"
#include "api/lease_header.h"
#include "model/runner_json.h"

namespace shepherd {

namespace {

Error may_not_claim(const Principal& principal, std::string_view what) {
  return {ErrorCode::permission_denied,
          "forbidden",
          "A token of scope " + std::string(name(principal.scope)) + " may not claim " + std::string(what) + ".",
          {}};
}

}  // namespace

void claim_task(Call call) {
  const Principal& principal = *call.principal();
  if (!principal.may(Right::produce, principal.only_task)) return call.fail(may_not_claim(principal, "tasks"));
  auto request = decode_claim_request(call.request().body);
  if (!request) return call.fail(request.error());
  if (!principal.may(Right::produce, request->task)) {
    return call.fail(may_not_claim(principal, request->task.empty() ? "any task" : "this task"));
  }
  Steering& steering = call.parts().steering;
  call.drop_request();  // the claim may wait for a while
  auto gone = call.peer_watch();
  steering.claim(
      std::move(*request),
      [&steering, call = std::move(call)](Result<std::optional<Claim>> claim) mutable {
        if (!claim) return call.fail(claim.error());
        if (*claim) {
          return call.send_json(200, encode_lease((*claim)->task, (*claim)->epoch, steering.leases().lease_seconds()));
        }
        net::Response nothing;
        nothing.status = 204;
        call.send(std::move(nothing));
      },
      std::move(gone));
}

void renew_lease(Call call) {
  auto request = decode_lease_request(call.request().body);
  if (!request) return call.fail(request.error());
  Leases& leases = call.parts().steering.leases();
  if (auto renewed = leases.renew(call.id(), request->epoch, request->runner); !renewed) {
    return call.fail(renewed.error());
  }
  call.skip_audit();  // frequent, and without a lasting effect
  call.send_json(200, encode_lease({}, request->epoch, leases.lease_seconds()));
}

void get_task_data(Call call) {
  Call::on_lane(&Lanes::feeds, std::move(call), [](Call on_lane) {
    const EventStore& store = on_lane.parts().journal.store();
    auto task = store.task(on_lane.id());
    if (!task) return on_lane.fail(task.error());
    std::string session;
    if (!task->spec.resume_of.empty()) {
      auto earlier = store.row(task->spec.resume_of);
      if (earlier) session = earlier->state.session_id;
    }
    on_lane.send_json(200, encode_task_data(task->spec, session));
  });
}

void get_repo_token(Call call) {
  auto epoch = lease_header(call.request());
  if (!epoch) return call.fail(epoch.error());
  Call::on_lane(&Lanes::feeds, std::move(call), [epoch = *epoch](Call on_lane) {
    auto task = on_lane.parts().journal.store().row(on_lane.id());
    if (!task) return on_lane.fail(task.error());
    Steering& steering = on_lane.parts().steering;
    steering.repo_token(*task, epoch, [call = std::move(on_lane)](Result<RepoToken> token) mutable {
      if (!token) return call.fail(token.error());
      call.send_json(200, encode_repo_token(*token));
    });
  });
}

}  // namespace shepherd
