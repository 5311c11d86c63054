#include "sim_operator.h"

#include <gtest/gtest.h>

#include "json/scan.h"
#include "outbound/callback_reports.h"
#include "sim_runner.h"

namespace shepherd::simulation {

void SimOperator::act(Replica& replica, const EventStore& truth) {
  if (!replica.is_open()) return;
  const std::string& job = jobs_[random_.below(jobs_.size())];
  switch (random_.below(8)) {
    case 0:
    case 1:
      return create(replica, job);
    case 2:
      if (random_.below(5) != 0) return;
      created_.erase(job);
      return replica.journal.delete_task(job, [](const Result<void>&) {});
    case 3:
      return repeat(replica, truth);
    default:
      return command(replica, truth, job);
  }
}

void SimOperator::create(Replica& replica, const std::string& job) {
  TaskSpec spec;
  spec.id = job;
  spec.agent = SimRunner::kAgent;
  spec.description = "a job";
  if (random_.below(3) != 0) spec.callback_url = "http://receiver" + std::to_string(random_.below(2)) + ".test/";
  if (random_.below(2) == 0) spec.callback_events = {"started", "progress"};
  if (random_.below(4) == 0) spec.timeout_seconds = 3 + static_cast<std::int64_t>(random_.below(10));
  if (random_.below(8) == 0) spec.runner = runners_[random_.below(runners_.size())];
  replica.journal.create_task(std::move(spec), "", [this, job](Result<Created> created) {
    if (created && !created->existed) created_.insert(job);
  });
}

void SimOperator::command(Replica& replica, const EventStore& truth, const std::string& job) {
  auto row = truth.row(job);
  Command command;
  command.id = "c" + std::to_string(++last_command_);
  command.content = "do " + command.id;
  command.expires_seconds = 1 + static_cast<std::int64_t>(random_.below(8));
  switch (random_.below(6)) {
    case 0:
      command.kind = random_.below(4) == 0 ? CommandKind::stop : CommandKind::interrupt;
      break;
    case 1:
      command.kind = CommandKind::queue;
      break;
    case 2:
    case 3:
      if (row && !row->state.approvals.empty()) {
        command.kind = random_.below(2) == 0 ? CommandKind::approve : CommandKind::deny;
        command.approval_id = row->state.approvals.front().id;
        break;
      }
      [[fallthrough]];
    default:
      command.kind = CommandKind::steer;
  }
  submit(replica, truth, job, command);
}

void SimOperator::repeat(Replica& replica, const EventStore& truth) {
  if (sent_.empty()) return;
  auto one = sent_.begin();
  std::advance(one, static_cast<std::ptrdiff_t>(random_.below(sent_.size())));
  submit(replica, truth, one->first.first, Command(one->second.command));
}

void SimOperator::submit(Replica& replica, const EventStore& truth, const std::string& job, const Command& command) {
  sent_.try_emplace({job, command.id}, Sent{command});
  replica.steering->commands().submit(job, command, [this, &truth, job, id = command.id](Result<Submitted> submitted) {
    if (!submitted) return;
    auto row = truth.row(job);
    auto event = event_at(truth, job, submitted->sequence);
    // Deleted meanwhile, and perhaps created again.
    if (!row || !event || string_value(find_member(find_member(*event, "data"), "id")) != id) return;
    Sent& sent = sent_.at({job, id});
    if (sent.created_ms == row->created_ms && sent.sequence != 0) {
      EXPECT_EQ(submitted->sequence, sent.sequence) << "the repeated command " << id << " of " << job;
    }
    sent.created_ms = row->created_ms;
    sent.sequence = submitted->sequence;
  });
}

}  // namespace shepherd::simulation
