#include "sim_runner.h"

#include <gtest/gtest.h>

#include <utility>

#include "model/task_commands.h"
#include "model/wire_json.h"
#include "store/lease_fence.h"

namespace shepherd::simulation {
namespace {

// What a runner's own deeds cannot prevent: its lease has ended, or its task.
bool is_over(const Error& error) {
  return error.reason == "lease_lost" || error.code == ErrorCode::not_found || error.code == ErrorCode::gone;
}

}  // namespace

void SimRunner::act(Replica& replica, const std::vector<std::string>& jobs, bool diligent) {
  if (asking_ && !diligent && random_.below(30) == 0) *gone_ = true;
  if (asking_ || posting_ || !replica.is_open()) return;
  if (silent_until_ms_ > clock_.wall_ms() && !diligent) return;
  if (!job_) {
    bool named = !diligent && random_.below(3) == 0;
    return ask(replica, jobs, named ? jobs[random_.below(jobs.size())] : std::string(), diligent);
  }
  if (!job_->unsaid.empty()) return post(replica);
  if (job_->next == 1) {
    say("status", R"({"state":"running"})");
    return post(replica);
  }
  switch (diligent ? 9 : random_.below(16)) {
    case 0:
    case 1:
      return renew(replica);
    case 2:
      silent_until_ms_ = clock_.wall_ms() + static_cast<std::int64_t>(random_.below(12'000));
      return;
    case 3: {  // it starts again and finds its task by name
      std::string task = job_->task;
      job_.reset();
      return ask(replica, jobs, task, false);
    }
    case 4:
      ask_for_approval();
      break;
    case 5:
    case 6:
    case 7:
    case 8:
      if (!answer_command(replica)) return;
      break;
    case 9:
      say("status", random_.below(4) == 0 ? R"({"state":"failed"})" : R"({"state":"completed"})", true);
      break;
    case 10:
      say("status", R"({"event":"progress","message":"on"})");
      break;
    default:
      say("output", "{}");
  }
  post(replica);
}

std::map<std::string, Place> SimRunner::waiting(const EventStore& store, const std::vector<std::string>& jobs) const {
  std::map<std::string, Place> found;
  for (const std::string& job : jobs) {
    auto row = store.row(job);
    bool fits = row && row->state.state == State::queued && (row->spec.runner.empty() || row->spec.runner == name_);
    if (fits) found[job] = {static_cast<std::uint64_t>(row->created_ms), row->state.last_sequence};
  }
  return found;
}

void SimRunner::ask(Replica& replica, const std::vector<std::string>& jobs, const std::string& task, bool diligent) {
  ClaimRequest request;
  request.runner = name_;
  request.agents = {kAgent};
  request.task = task;
  request.wait_seconds = diligent ? 0 : static_cast<std::int64_t>(random_.below(4));
  bool certain = claims_.exact && !diligent && claims_.active == 0 && task.empty() && request.wait_seconds == 0;
  std::map<std::string, Place> wait;
  if (certain) wait = waiting(replica.journal.store(), jobs);
  asking_ = true;
  ++claims_.active;
  gone_ = std::make_shared<bool>(false);
  replica.steering->claim(
      std::move(request),
      [this, gone = gone_, wait = std::move(wait), jobs, begun = ++claims_.begun,
       &replica](Result<std::optional<Claim>> claim) {
        asking_ = false;
        --claims_.active;
        if (claim && *claim && !(*claim)->again) {
          EXPECT_TRUE(claims_.epochs.insert((*claim)->epoch).second)
              << name_ << " got " << (*claim)->task << " with the epoch of another lease, " << (*claim)->epoch;
        }
        if (claim && *claim && !*gone) job_ = Job{(*claim)->task, (*claim)->epoch, ++spools_, 1, {}, false};
        if (wait.empty() || begun != claims_.begun || !claim || *claim) return;
        for (const auto& each : waiting(replica.journal.store(), jobs)) {
          auto before = wait.find(each.first);
          EXPECT_TRUE(before == wait.end() || before->second != each.second)
              << name_ << " did not get " << each.first << ", which waits";
        }
      },
      [gone = gone_] { return *gone; });
}

// The summary says who said it under which lease, for the check of the log.
void SimRunner::say(const std::string& type, const std::string& data, bool ends) {
  std::string tag = "@" + name_ + " " + std::to_string(job_->epoch) + " " + std::to_string(job_->next);
  job_->unsaid = R"({"type":")" + type + R"(","sequence":)" + std::to_string(job_->next) +
                 R"(,"timestamp":"2026-01-01T00:00:00Z","summary":")" + tag + R"(","data":)" + data + "}";
  job_->ends = ends;
}

void SimRunner::post(Replica& replica) {
  auto drafts = decode_events(job_->unsaid, Framing::json, Intake{.now_ms = clock_.wall_ms()});
  ASSERT_TRUE(drafts.has_value()) << job_->unsaid;
  AppendRequest request;
  request.task = job_->task;
  request.producer = {ProducerKind::strict, name_ + "-" + std::to_string(job_->spool)};
  request.drafts = std::move(*drafts);
  request.received_ms = clock_.wall_ms();
  request.fence = replica.fence(job_->task, job_->epoch);
  posting_ = true;
  replica.journal.append(std::move(request), [this](Result<Appended> appended) {
    posting_ = false;
    if (!appended) {
      EXPECT_TRUE(is_over(appended.error()) || retryable(appended.error().code)) << appended.error().message;
      if (is_over(appended.error())) job_.reset();
      return;
    }
    ++job_->next;
    job_->unsaid.clear();
    if (job_->ends) job_.reset();
  });
}

void SimRunner::renew(Replica& replica) {
  auto renewed = replica.renew(job_->task, job_->epoch, name_);
  if (!renewed && is_over(renewed.error())) job_.reset();
}

void SimRunner::ask_for_approval() {
  std::string expires = format_timestamp(clock_.wall_ms() + 500 + static_cast<std::int64_t>(random_.below(6'000)));
  say("approval", R"({"approvalID":"ap-)" + name_ + "-" + std::to_string(++approvals_) +
                      R"(","state":"pending","kind":"tool","tool":"x","expiresAt":")" + expires + R"("})");
}

bool SimRunner::answer_command(const Replica& replica) {
  auto row = replica.journal.store().row(job_->task);
  if (!row) return false;
  for (const TaskCommand& command : row->state.commands) {
    if (!is_open(row->state, command)) continue;
    if (command.kind == CommandKind::stop) {
      say("status", R"({"state":"cancelled"})", true);
      return true;
    }
    const TaskApproval* approval = find_approval(row->state, command.approval_id);
    if (approval != nullptr && command.state == CommandState::delivered) {
      say("approval", R"({"approvalID":")" + approval->id + R"(","state":"resolved"})");
      return true;
    }
    const char* state = command.state == CommandState::delivered ? "acknowledged"
                        : random_.below(4) == 0                  ? "accepted"
                        : random_.below(4) == 0                  ? "refused"
                                                                 : "delivered";
    say("command_result", R"({"id":")" + command.id + R"(","state":")" + state + R"("})");
    return true;
  }
  return false;
}

}  // namespace shepherd::simulation
