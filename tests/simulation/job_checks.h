// What must be true of the jobs when the simulated world has come to rest.
// Threads: caller.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replica.h"
#include "sim_operator.h"
#include "sim_receiver.h"
#include "store/event_store.h"

namespace shepherd::simulation {

// One lease at a time, nothing said under a lease that is over, one end, every command once and settled once.
void check_job_log(const EventStore& truth, const TaskRow& job, const SimOperator& people);
// The end and the reports that the job asked for were accepted, and every replica says so.
void check_job_callbacks(const EventStore& truth, const TaskRow& job, const Replica& replica,
                         const SimReceiver& receiver);
// Nothing remembers a job that was deleted.
void check_deleted_job(const EventStore& truth, const std::string& job, const Replica& replica);
// No record is of a task that is not there any more.
void check_records(const EventStore& truth);
// The inbox lists what the store says.
void check_inbox(const EventStore& truth, const Replica& replica, std::int64_t now_ms);
// What has expired was settled before anyone could take it.
void check_nothing_expired(const EventStore& truth, std::int64_t now_ms);

}  // namespace shepherd::simulation
