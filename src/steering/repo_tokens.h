// Gives a task's repository credential to the runner that has the task, once per lease, or once while the task is
// unclaimed. A record of the store says to which lease it went; the transaction that notes it decides, so that two
// requests at the same time, also at two servers, get one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "journal/journal.h"
#include "outbound/repo_token.h"

namespace shepherd {

// Whether the holder of this lease may have the token; `given` is the record, empty if there is none. Returns the
// lease's epoch, or 0 for an unclaimed task. Errors: gone/task_ended; conflict/token_taken; conflict/not_claimed if the
// lease of a claimed task is over, lease_needed if a lease exists and no epoch is given, lease_lost if it is another
// runner's.
Result<std::uint64_t> may_have_token(const TaskRow& task, std::optional<std::uint64_t> epoch, const std::string& given);

// Threads: any.
class RepoTokens {
 public:
  RepoTokens(Journal& journal, const Clock& clock, const RepoTokenConfig& config);
  ~RepoTokens();
  RepoTokens(const RepoTokens&) = delete;
  RepoTokens& operator=(const RepoTokens&) = delete;

  // The credential always has an expiry time. Errors: those of may_have_token(), unavailable/no_token_provider,
  // unavailable/token_provider_failed.
  void give(const TaskRow& task, std::optional<std::uint64_t> epoch, Done<RepoToken> done);
  // The task has ended or was deleted: forgets to whom its token went. Blocks for a read of the store.
  void forget(const std::string& task);
  void stop();    // makes active and later requests fail soon
  void finish();  // waits until the pending requests are answered

 private:
  void fetch(const TaskInfo& task, std::optional<std::uint64_t> epoch, Done<RepoToken> done);

  Journal& journal_;
  const Clock& clock_;
  std::unique_ptr<RepoTokenProvider> provider_;  // nullptr if none is configured
  std::unique_ptr<ThreadPool> workers_;          // nullptr if no provider is configured
};

}  // namespace shepherd
