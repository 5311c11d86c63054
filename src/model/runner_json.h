// The JSON that runners and the server exchange: claims, leases, a task's data.
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/task.h"

namespace shepherd {

// POST /api/v1/claims: a runner asks for work.
struct ClaimRequest {
  std::string runner;
  std::vector<std::string> agents;            // dialects that the runner supports
  std::map<std::string, std::string> labels;  // a task must have all of them
  std::string task;                           // claim only this task; empty: any
  std::int64_t wait_seconds = 0;
};
Result<ClaimRequest> decode_claim_request(std::string_view json);

// PUT …/{id}/lease: the runner reports that it still works on the task.
struct LeaseRequest {
  std::string runner;
  std::uint64_t epoch = 0;
};
Result<LeaseRequest> decode_lease_request(std::string_view json);

// What a runner says about itself. Kept with its lease.
struct RunnerAbout {
  std::vector<std::string> agents;
  std::map<std::string, std::string> labels;
  std::int64_t slots = 0;
  std::string version, machine;

  friend bool operator==(const RunnerAbout&, const RunnerAbout&) = default;
};
// PUT /api/v1/runners/{id}: a runner says that it is there, and which leases it believes to have.
struct RunnerReport {
  struct Task {
    std::string id;
    std::uint64_t epoch = 0;
  };
  RunnerAbout about;
  std::vector<Task> tasks;
};
Result<RunnerReport> decode_runner_report(std::string_view json);
std::string encode_runner_about(const RunnerAbout& about);
Result<RunnerAbout> decode_runner_about(std::string_view json);
// {"id", what it said about itself, "tasks":[ids]}
std::string encode_runner(const std::string& id, const RunnerAbout& about, const std::vector<std::string>& tasks);
// The answer to a report; `lost` are the tasks whose agents must stop.
std::string encode_report_answer(std::int64_t present_seconds, std::int64_t lease_seconds,
                                 const std::vector<std::string>& lost);

// {"taskID"?,"leaseEpoch","leaseSeconds"}; taskID is left out when empty.
std::string encode_lease(std::string_view task, std::uint64_t epoch, std::int64_t lease_seconds);

// GET …/{id}/data: what a runner needs to start the agent. `resume_session` is the agent's id of the conversation to
// continue. Members without a value are left out, except `repo`, which becomes null.
std::string encode_task_data(const TaskSpec& spec, std::string_view resume_session);

}  // namespace shepherd
