#include "steering/repo_tokens.h"

#include <utility>

#include "outbound/limits.h"
#include "store/lease_fence.h"

namespace shepherd {
namespace {

constexpr const char* kTokenRecords = "lease_token";

}  // namespace

Result<std::uint64_t> may_have_token(const TaskRow& task, std::optional<std::uint64_t> epoch,
                                     const std::string& given) {
  const TaskState& state = task.state;
  if (is_terminal(state.state)) {
    return fail(Error{ErrorCode::gone, "task_ended", "The task has ended; it needs no token any more.", {}}.with(
        "currentState", std::string(name(state.state))));
  }
  if (!is_leased(state)) {
    if (state.lease_epoch != 0) {
      return fail(ErrorCode::conflict, "not_claimed", "Only the runner that has claimed the task gets its token.");
    }
    if (given != "0") return std::uint64_t{0};
    return fail(ErrorCode::conflict, "token_taken",
                "The token of this task was given out already. A runner that claims the task gets another one.");
  }
  if (!epoch) {
    return fail(ErrorCode::conflict, "lease_needed",
                "Only the runner that has claimed the task gets its token. Send the claim's leaseEpoch in the header "
                "Shepherd-Lease.");
  }
  if (state.lease_epoch != *epoch) return fail(lease_lost());
  if (given == std::to_string(*epoch)) {
    return fail(ErrorCode::conflict, "token_taken", "The token of this lease was given out already.");
  }
  return *epoch;
}

RepoTokens::RepoTokens(Journal& journal, const Clock& clock, const RepoTokenConfig& config)
    : journal_(journal), clock_(clock), provider_(make_repo_token_provider(config, clock)) {
  if (provider_ != nullptr) workers_ = std::make_unique<ThreadPool>("token", kTokenThreads);
}

RepoTokens::~RepoTokens() {
  stop();
  finish();
}

void RepoTokens::finish() {
  workers_.reset();
}

void RepoTokens::stop() {
  if (provider_ != nullptr) provider_->cancel();
}

void RepoTokens::give(const TaskRow& task, std::optional<std::uint64_t> epoch, Done<RepoToken> done) {
  auto given = journal_.store().record(kTokenRecords, task.spec.id);
  if (!given) return done(fail(std::move(given.error())));
  auto may = may_have_token(task, epoch, *given);
  bool ended = !may && may.error().code == ErrorCode::gone;
  if (provider_ == nullptr && !ended) {
    return done(fail(ErrorCode::unavailable, "no_token_provider",
                     "This server gives out no repository tokens: none of runners.token_command, "
                     "runners.github_app.id and runners.token_file is set."));
  }
  if (!may) return done(fail(std::move(may.error())));
  workers_->post(
      [this, spec = task.spec, epoch, done = std::move(done)]() mutable { fetch(spec, epoch, std::move(done)); });
}

void RepoTokens::fetch(const TaskInfo& task, std::optional<std::uint64_t> epoch, Done<RepoToken> done) {
  auto token = provider_->token(task);
  if (!token) return done(fail(token.error()));
  if (token->expires_ms == 0) token->expires_ms = clock_.wall_ms() + kTokenUntoldLife.count();
  // Noted before it is given, so that no request gets a second one, not even after a restart.
  journal_.write(
      [id = task.id, epoch](WriteTxn& txn) -> Result<void> {
        auto row = txn.row(id);
        if (!row) return fail(std::move(row.error()));
        auto given = txn.record(kTokenRecords, id);
        if (!given) return fail(std::move(given.error()));
        auto may = may_have_token(*row, epoch, *given);
        if (!may) return fail(std::move(may.error()));
        return txn.put_record(kTokenRecords, id, std::to_string(*may));
      },
      [token = std::move(*token), done = std::move(done)](Result<void> written) mutable {
        if (!written) return done(fail(std::move(written.error())));
        done(std::move(token));
      });
}

void RepoTokens::forget(const std::string& task) {
  if (provider_ == nullptr) return;
  auto given = journal_.store().record(kTokenRecords, task);
  if (!given || given->empty()) return;
  journal_.write([task](WriteTxn& txn) { return txn.put_record(kTokenRecords, task, ""); }, [](Result<void>) {});
}

}  // namespace shepherd
