#include "access/access.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

#include "access/limits.h"
#include "access/secret.h"
#include "access/tickets.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/mutex.h"

namespace shepherd {
namespace {

const std::string kTokenKind = "token";

std::int64_t in_ms(std::chrono::milliseconds span) {
  return span.count();
}

bool is_plain_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::unexpected<Error> bad_token() {
  return fail(ErrorCode::unauthenticated, "bad_token", "this is not a token of this server; it may have been revoked");
}

std::unexpected<Error> too_many(const char* reason, const char* what) {
  return fail(Error{
      ErrorCode::rate_limited,
      reason,
      std::string("there are too many unused ") + what + "; try again later",
      {}}.with("retryAfterSeconds", std::int64_t{10}));
}

std::unexpected<Error> bad_login_code() {
  return fail(ErrorCode::unauthenticated, "bad_login_code",
              "this login link was used or is too old; `shepherd token login-link` makes a new one");
}

// Everything that completions on the writer's thread use. They keep it alive after Access is gone.
struct State {
  Mutex mutex;
  TokenTable tokens GUARDED_BY(mutex);
  std::size_t pending GUARDED_BY(mutex) = 0;  // tokens being written to the store
  Tickets tickets GUARDED_BY(mutex);
  LoginCodes login_codes GUARDED_BY(mutex);
  std::map<std::uint64_t, std::shared_ptr<const std::function<void(const std::string&)>>> callbacks GUARDED_BY(mutex);
  std::uint64_t last_callback GUARDED_BY(mutex) = 0;
  std::atomic<std::uint64_t> revision{1};
  std::atomic<std::int64_t> next_expiry_ms{std::numeric_limits<std::int64_t>::max()};

  void put(TokenRecord record) REQUIRES(mutex) {
    if (record.info.expires_ms != 0) next_expiry_ms = std::min(next_expiry_ms.load(), record.info.expires_ms);
    tokens.put(std::move(record));
  }

  // The order matters: a reader of the new revision must no longer find the tokens.
  void revoked(const std::vector<std::string>& ids) EXCLUDES(mutex) {
    std::vector<std::shared_ptr<const std::function<void(const std::string&)>>> calls;
    {
      std::unordered_set<std::string> gone(ids.begin(), ids.end());
      MutexLock lock(mutex);
      for (const auto& id : ids) tokens.remove(id);
      tickets.drop_tokens(gone);
      login_codes.drop_tokens(gone);
      for (const auto& [callback_id, callback] : callbacks) calls.push_back(callback);
      ++revision;
    }
    for (const auto& call : calls) {
      for (const auto& id : ids) (*call)(id);
    }
  }
};

class JournalAccess final : public Access {
 public:
  JournalAccess(Journal& journal, const Clock& clock, Random& random)
      : journal_(journal), clock_(clock), random_(random) {}

  ~JournalAccess() override {
    MutexLock lock(state_->mutex);
    state_->callbacks.clear();
  }

  Result<void> load() {
    auto records = journal_.store().records(kTokenKind);
    if (!records) return fail(records.error());
    MutexLock lock(state_->mutex);
    for (const auto& [id, value] : *records) {
      auto token = decode_token(id, value);
      if (token) {
        state_->put(std::move(*token));
      } else {
        log_warn("token {} in the store cannot be read and does not work; revoke it and make a new one", id);
      }
    }
    // Finds sessions that were stored while their token was being revoked. Removing one can orphan sessions made with
    // it.
    for (auto lost = state_->tokens.orphans(); !lost.empty(); lost = state_->tokens.orphans()) {
      for (const auto& id : lost) state_->tokens.remove(id);
    }
    return {};
  }

  Result<std::shared_ptr<const Principal>> authenticate(std::string_view secret) const override {
    return find(kTokenPrefix, secret);
  }

  Result<std::shared_ptr<const Principal>> authenticate_session(std::string_view secret) const override {
    return find(kSessionPrefix, secret);
  }

  std::uint64_t revision() const override {
    std::int64_t now_ms = clock_.wall_ms();
    if (now_ms >= state_->next_expiry_ms.load(std::memory_order_relaxed)) {
      MutexLock lock(state_->mutex);
      if (now_ms >= state_->next_expiry_ms) {
        state_->next_expiry_ms = state_->tokens.next_expiry(now_ms);
        ++state_->revision;
      }
    }
    return state_->revision.load(std::memory_order_acquire);
  }

  bool still_valid(const Principal& principal) const override {
    if (principal.token_id.empty()) return true;
    std::int64_t now_ms = clock_.wall_ms();
    MutexLock lock(state_->mutex);
    return state_->tokens.usable(principal.token_id, now_ms) != nullptr;
  }

  std::uint64_t on_revoked(std::function<void(const std::string&)> callback) override {
    MutexLock lock(state_->mutex);
    state_->callbacks.emplace(++state_->last_callback,
                              std::make_shared<const std::function<void(const std::string&)>>(std::move(callback)));
    return state_->last_callback;
  }

  void forget(std::uint64_t callback_id) override {
    MutexLock lock(state_->mutex);
    state_->callbacks.erase(callback_id);
  }

  void create_token(std::string token_name, Scope scope, std::string only_task, std::int64_t expires_ms,
                    Done<NewToken> done) override {
    std::int64_t now_ms = clock_.wall_ms();
    if (token_name.empty() || token_name.size() > kMaxTokenNameBytes || !is_plain_line(token_name)) {
      return done(fail(ErrorCode::invalid_argument, "bad_token_name",
                       "a token needs a name of one line and at most " + std::to_string(kMaxTokenNameBytes) +
                           " bytes: the person or program that uses it"));
    }
    if (!only_task.empty() && (scope != Scope::producer || !is_task_id(only_task))) {
      return done(fail(ErrorCode::invalid_argument, "bad_token_task",
                       "only a producer token can be limited to one task, by its id"));
    }
    if (expires_ms != 0 && expires_ms <= now_ms) {
      return done(fail(ErrorCode::invalid_argument, "bad_token_expiry", "the token would already have expired"));
    }
    add({.id = {},
         .name = std::move(token_name),
         .scope = scope,
         .only_task = std::move(only_task),
         .created_ms = now_ms,
         .expires_ms = expires_ms,
         .session = false,
         .parent = {}},
        std::move(done));
  }

  void revoke_token(std::string id, Done<void> done) override {
    std::vector<std::string> family;
    {
      MutexLock lock(state_->mutex);
      family = state_->tokens.family(id);
    }
    if (family.empty()) return done(fail(ErrorCode::not_found, "unknown_token", "there is no token with this id"));
    journal_.write(
        [family](WriteTxn& txn) -> Result<void> {
          for (const auto& gone : family) {
            if (auto removed = txn.put_record(kTokenKind, gone, ""); !removed) return removed;
          }
          return {};
        },
        [state = state_, family, done = std::move(done)](Result<void> written) mutable {
          if (written) state->revoked(family);
          done(std::move(written));
        });
  }

  std::vector<TokenInfo> tokens() const override {
    MutexLock lock(state_->mutex);
    return state_->tokens.list();
  }

  Result<std::string> make_login_code(const Principal& principal) override {
    std::int64_t steady_ms = clock_.steady_ms();
    MutexLock lock(state_->mutex);
    return add_login_code(principal, principal.token_id, steady_ms);
  }

  Result<std::string> make_login_code_for(std::string_view token) override {
    std::int64_t steady_ms = clock_.steady_ms();
    std::int64_t now_ms = clock_.wall_ms();
    MutexLock lock(state_->mutex);
    const TokenInfo* known = state_->tokens.named(token, now_ms);
    if (known == nullptr) {
      return fail(ErrorCode::not_found, "unknown_token",
                  "no token, or more than one, has this name; `shepherd token list` shows their ids");
    }
    return add_login_code({known->id, known->name, known->scope, known->only_task}, known->id, steady_ms);
  }

  void redeem_login_code(std::string_view code, Done<NewToken> done) override {
    std::int64_t now_ms = clock_.wall_ms();
    auto session = session_of(code, now_ms);
    if (!session) {
      return done(bad_login_code());
    }
    add(std::move(*session), std::move(done));
  }

  void open_session(const Principal& principal, Done<NewToken> done) override {
    std::int64_t now_ms = clock_.wall_ms();
    std::optional<TokenInfo> session;
    {
      MutexLock lock(state_->mutex);
      session = session_for(principal, now_ms);
    }
    if (!session) return done(bad_token());
    add(std::move(*session), std::move(done));
  }

  Result<std::string> make_ticket(std::shared_ptr<const Principal> principal) override {
    std::int64_t now_ms = clock_.wall_ms();
    std::int64_t steady_ms = clock_.steady_ms();
    MutexLock lock(state_->mutex);
    if (!usable(*principal, now_ms)) return bad_token();
    std::string ticket = make_secret(kTicketPrefix, random_);
    std::string owner = state_->tokens.root(principal->token_id);
    if (!state_->tickets.add(*digest_secret(kTicketPrefix, ticket), owner, std::move(principal), steady_ms)) {
      return too_many("too_many_tickets", "tickets");
    }
    return ticket;
  }

  Result<std::shared_ptr<const Principal>> use_ticket(std::string_view ticket, std::string_view stream,
                                                      bool has_cursor) override {
    std::int64_t now_ms = clock_.wall_ms();
    std::int64_t steady_ms = clock_.steady_ms();
    auto digest = digest_secret(kTicketPrefix, ticket);
    MutexLock lock(state_->mutex);
    auto principal = digest ? state_->tickets.use(*digest, stream, has_cursor, steady_ms) : nullptr;
    if (principal == nullptr || !usable(*principal, now_ms)) {
      return fail(ErrorCode::unauthenticated, "bad_ticket",
                  "this ticket was used or is too old; get a new one from POST /api/v1/tickets");
    }
    return principal;
  }

 private:
  Result<std::shared_ptr<const Principal>> find(std::string_view prefix, std::string_view secret) const {
    auto digest = digest_secret(prefix, secret);
    if (!digest) return bad_token();
    std::int64_t now_ms = clock_.wall_ms();
    MutexLock lock(state_->mutex);
    return state_->tokens.find(*digest, prefix == kSessionPrefix, now_ms);
  }

  Result<std::string> add_login_code(Principal principal, const std::string& token, std::int64_t steady_ms)
      REQUIRES(state_->mutex) {
    std::string code = make_secret(kLoginCodePrefix, random_);
    std::string owner = state_->tokens.root(token);
    if (!state_->login_codes.add(*digest_secret(kLoginCodePrefix, code), owner, std::move(principal), steady_ms)) {
      return too_many("too_many_login_links", "login links");
    }
    return code;
  }

  bool usable(const Principal& principal, std::int64_t now_ms) const REQUIRES(state_->mutex) {
    return principal.token_id.empty() || state_->tokens.usable(principal.token_id, now_ms) != nullptr;
  }

  // Returns the session for a login code and uses the code up.
  std::optional<TokenInfo> session_of(std::string_view code, std::int64_t now_ms) {
    auto digest = digest_secret(kLoginCodePrefix, code);
    if (!digest) return std::nullopt;
    std::int64_t steady_ms = clock_.steady_ms();
    MutexLock lock(state_->mutex);
    auto principal = state_->login_codes.take(*digest, steady_ms);
    if (!principal) return std::nullopt;
    return session_for(*principal, now_ms);
  }

  // Returns nullopt if the principal's token is gone.
  std::optional<TokenInfo> session_for(const Principal& principal, std::int64_t now_ms) const REQUIRES(state_->mutex) {
    std::int64_t expires_ms = now_ms + in_ms(kSessionLife);
    if (!principal.token_id.empty()) {
      const TokenInfo* token = state_->tokens.usable(principal.token_id, now_ms);
      if (token == nullptr) return std::nullopt;
      if (token->expires_ms != 0) expires_ms = std::min(expires_ms, token->expires_ms);
    }
    return TokenInfo{.id = {},
                     .name = principal.person,
                     .scope = principal.scope,
                     .only_task = principal.only_task,
                     .created_ms = now_ms,
                     .expires_ms = expires_ms,
                     .session = true,
                     .parent = principal.token_id};
  }

  // Assigns the token's id and secret and stores it. The same transaction deletes long expired tokens and surplus
  // sessions.
  void add(TokenInfo info, Done<NewToken> done) {
    TokenRecord record{std::move(info), {}};
    std::string secret;
    std::string_view prefix = record.info.session ? kSessionPrefix : kTokenPrefix;
    std::vector<std::string> stale, ousted;
    bool full = false;
    {
      MutexLock lock(state_->mutex);
      stale = state_->tokens.expired(record.info.created_ms - in_ms(kExpiredTokenKeep));
      if (!record.info.parent.empty()) {
        ousted = state_->tokens.sessions_over(state_->tokens.root(record.info.parent), kSessionsPerToken);
      }
      full = state_->tokens.size() + state_->pending >= kMaxTokens + stale.size() + ousted.size();
      if (!full) {
        ++state_->pending;
        record.info.id = make_sortable_id(record.info.created_ms, random_);
        secret = make_secret(prefix, random_);
      }
    }
    if (full) {
      return done(fail(ErrorCode::conflict, "too_many_tokens", "there are too many tokens; revoke some first"));
    }
    record.digest = *digest_secret(prefix, secret);
    journal_.write(
        [id = record.info.id, value = encode_token(record), stale, ousted](WriteTxn& txn) -> Result<void> {
          for (const auto* leaving : {&stale, &ousted}) {
            for (const auto& old : *leaving) {
              if (auto removed = txn.put_record(kTokenKind, old, ""); !removed) return removed;
            }
          }
          return txn.put_record(kTokenKind, id, value);
        },
        [state = state_, record, secret, stale, ousted, done = std::move(done)](Result<void> written) mutable {
          if (written && !ousted.empty()) state->revoked(ousted);
          bool orphan = false;
          {
            MutexLock lock(state->mutex);
            --state->pending;
            if (written) {
              for (const auto& old : stale) state->tokens.remove(old);
              // Its token may have been revoked during the write; load() also skips such a record.
              orphan = !record.info.parent.empty() && !state->tokens.contains(record.info.parent);
              if (!orphan) state->put(record);
            }
          }
          if (!written) return done(fail(std::move(written.error())));
          if (orphan) return done(bad_login_code());
          done(NewToken{std::move(record.info), std::move(secret)});
        });
  }

  Journal& journal_;
  const Clock& clock_;
  Random& random_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace

Result<std::unique_ptr<Access>> Access::open(Journal& journal, const Clock& clock, Random& random) {
  auto access = std::make_unique<JournalAccess>(journal, clock, random);
  if (auto loaded = access->load(); !loaded) return fail(loaded.error());
  return access;
}

}  // namespace shepherd
