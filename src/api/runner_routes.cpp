// Requests of runners: claim a task, renew its lease, read its data.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/handlers.h"
#include "api/lease_header.h"
#include "model/limits.h"
#include "model/runner_json.h"
#include "steering/limits.h"
#include "store/lease_fence.h"

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
  Call::on_lane(&Lanes::feeds, std::move(call), [request = std::move(*request)](Call on_lane) {
    Leases& leases = on_lane.parts().steering.leases();
    auto task = on_lane.parts().journal.store().row(on_lane.id());
    if (!task && task.error().code != ErrorCode::not_found) return on_lane.fail(task.error());
    auto renewed = task ? leases.renew(*task, request.epoch, request.runner) : fail(lease_lost());
    if (!renewed) return on_lane.fail(renewed.error());
    on_lane.skip_audit();  // frequent, and without a lasting effect
    on_lane.send_json(200, encode_lease({}, request.epoch, leases.lease_seconds()));
  });
}

void report_runner(Call call) {
  const std::string& runner = call.id();
  if (!call.principal()->may(Right::produce, "")) return call.fail(may_not_claim(*call.principal(), "tasks"));
  if (runner.size() > kMaxRunnerIdBytes) {
    return call.fail({ErrorCode::invalid_argument,
                      "bad_runner",
                      "A runner's name has at most " + std::to_string(kMaxRunnerIdBytes) + " bytes.",
                      {}});
  }
  auto report = decode_runner_report(call.request().body);
  if (!report) return call.fail(report.error());
  call.parts().steering.runners().report(runner, report->about);
  Call::on_lane(&Lanes::feeds, std::move(call), [report = std::move(*report)](Call on_lane) {
    Leases& leases = on_lane.parts().steering.leases();
    std::vector<std::string> lost;
    for (const RunnerReport::Task& held : report.tasks) {
      auto task = on_lane.parts().journal.store().row(held.id);
      if (!task && task.error().code != ErrorCode::not_found) return on_lane.fail(task.error());
      if (!task || !leases.renew(*task, held.epoch, on_lane.id())) lost.push_back(held.id);
    }
    on_lane.skip_audit();  // frequent, and without a lasting effect
    on_lane.send_json(200, encode_report_answer(kRunnerSeenSeconds, leases.lease_seconds(), lost));
  });
}

void remove_runner(Call call) {
  if (!call.principal()->may(Right::produce, "")) return call.fail(may_not_claim(*call.principal(), "tasks"));
  std::string runner = call.id();
  Steering& steering = call.parts().steering;
  steering.runners().leaves(runner, [call = std::move(call)](Result<void> done) mutable {
    if (!done) return call.fail(done.error());
    net::Response gone;
    gone.status = 204;
    call.send(std::move(gone));
  });
}

void list_runners(Call call) {
  Call::on_lane(&Lanes::queries, std::move(call), [](Call on_lane) {
    const EventStore& store = on_lane.parts().journal.store();
    auto runners = store.leases(LeaseKind::runner);
    auto leases = store.leases(LeaseKind::task);
    if (!runners || !leases) return on_lane.fail(runners ? leases.error() : runners.error());
    std::map<std::string, std::vector<std::string>> tasks;
    for (const Lease& lease : *leases) {
      auto task = store.row(lease.key.name);
      if (task && is_leased(task->state) && task->state.lease_epoch == lease.epoch) {
        tasks[lease.key.holder].push_back(lease.key.name);
      }
    }
    std::string out = "[";
    for (const Lease& runner : *runners) {
      auto about = decode_runner_about(runner.note);
      if (!about) return on_lane.fail(about.error());
      if (out.size() > 1) out += ',';
      out += encode_runner(runner.key.name, *about, tasks[runner.key.name]);
    }
    on_lane.send_json(200, out + "]");
  });
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
    steering.repo_tokens().give(*task, epoch, [call = std::move(on_lane)](Result<RepoToken> token) mutable {
      if (!token) return call.fail(token.error());
      call.send_json(200, encode_repo_token(*token));
    });
  });
}

}  // namespace shepherd
