#include "access/access.h"

#include <algorithm>
#include <atomic>
#include <deque>
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

}  // namespace

// Completions on the writer's thread keep it alive when Access itself is gone.
struct Access::Impl final : std::enable_shared_from_this<Impl> {
  Impl(Journal& the_journal, const Clock& the_clock, Random& the_random)
      : journal(the_journal), clock(the_clock), random(the_random) {}

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
      for (const auto& id : ids) {
        tokens.remove(id);
        remember_revoked(id);
      }
      tickets.drop_tokens(gone);
      login_codes.drop_tokens(gone);
      for (const auto& [callback_id, callback] : callbacks) calls.push_back(callback);
      ++revision;
    }
    for (const auto& call : calls) {
      for (const auto& id : ids) (*call)(id);
    }
  }

  // A change of this process comes back through the stream. A token that was made and revoked meanwhile must not be put
  // back by the news of its making.
  void remember_revoked(const std::string& id) REQUIRES(mutex) {
    revoked_here.push_back(id);
    if (revoked_here.size() > kRevokedRemembered) revoked_here.pop_front();
  }

  // Returns false if the store could not be read.
  bool take(const News& news) EXCLUDES(mutex) {
    if (news.restarted) return reload();
    for (const Change& change : news.changes) {
      if (change.kind != ChangeKind::record_changed || change.name != kTokenKind) continue;
      auto value = journal.store().record(kTokenKind, change.key);
      if (!value) return false;
      take_token(change.key, *value);
    }
    return true;
  }

  void take_token(const std::string& id, const std::string& value) EXCLUDES(mutex) {
    bool gone = false;
    {
      MutexLock lock(mutex);
      if (value.empty()) {
        gone = tokens.contains(id);
      } else if (!tokens.contains(id) && std::ranges::find(revoked_here, id) == revoked_here.end()) {
        auto token = decode_token(id, value);
        bool orphan = token && !token->info.parent.empty() && !tokens.contains(token->info.parent);
        if (token && !orphan) put(std::move(*token));
      }
    }
    if (gone) revoked({id});
  }

  // Changes were lost, so every token may have come or gone.
  bool reload() EXCLUDES(mutex) {
    auto records = journal.store().records(kTokenKind);
    if (!records) return false;
    std::vector<TokenInfo> known;
    {
      MutexLock lock(mutex);
      known = tokens.list();
    }
    for (const TokenInfo& token : known) {
      if (!records->contains(token.id)) take_token(token.id, "");
    }
    for (const auto& [id, value] : *records) take_token(id, value);
    return true;
  }

  Result<void> load() {
    auto records = journal.store().records(kTokenKind);
    if (!records) return fail(records.error());
    MutexLock lock(mutex);
    for (const auto& [id, value] : *records) {
      auto token = decode_token(id, value);
      if (token) {
        put(std::move(*token));
      } else {
        log_warn("token {} in the store cannot be read and does not work; revoke it and make a new one", id);
      }
    }
    // Finds sessions that were stored while their token was being revoked. Removing one can orphan sessions made with
    // it.
    for (auto lost = tokens.orphans(); !lost.empty(); lost = tokens.orphans()) {
      for (const auto& id : lost) tokens.remove(id);
    }
    return {};
  }

  Result<std::string> add_login_code(Principal principal, const std::string& token, std::int64_t steady_ms)
      REQUIRES(mutex) {
    std::string code = make_secret(kLoginCodePrefix, random);
    std::string owner = tokens.root(token);
    if (!login_codes.add(*digest_secret(kLoginCodePrefix, code), owner, std::move(principal), steady_ms)) {
      return too_many("too_many_login_links", "login links");
    }
    return code;
  }

  bool usable(const Principal& principal, std::int64_t now_ms) const REQUIRES(mutex) {
    return principal.token_id.empty() || tokens.usable(principal.token_id, now_ms) != nullptr;
  }

  Result<std::shared_ptr<const Principal>> find(std::string_view prefix, std::string_view secret) {
    auto digest = digest_secret(prefix, secret);
    if (!digest) return bad_token();
    std::int64_t now_ms = clock.wall_ms();
    MutexLock lock(mutex);
    return tokens.find(*digest, prefix == kSessionPrefix, now_ms);
  }

  // Returns the session for a login code and uses the code up.
  std::optional<TokenInfo> session_of(std::string_view code, std::int64_t now_ms) {
    auto digest = digest_secret(kLoginCodePrefix, code);
    if (!digest) return std::nullopt;
    std::int64_t steady_ms = clock.steady_ms();
    MutexLock lock(mutex);
    auto principal = login_codes.take(*digest, steady_ms);
    if (!principal) return std::nullopt;
    return session_for(*principal, now_ms);
  }

  // Returns nullopt if the principal's token is gone.
  std::optional<TokenInfo> session_for(const Principal& principal, std::int64_t now_ms) const REQUIRES(mutex) {
    std::int64_t expires_ms = now_ms + in_ms(kSessionLife);
    if (!principal.token_id.empty()) {
      const TokenInfo* token = tokens.usable(principal.token_id, now_ms);
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
      MutexLock lock(mutex);
      stale = tokens.expired(record.info.created_ms - in_ms(kExpiredTokenKeep));
      if (!record.info.parent.empty()) {
        ousted = tokens.sessions_over(tokens.root(record.info.parent), kSessionsPerToken);
      }
      full = tokens.size() + pending >= kMaxTokens + stale.size() + ousted.size();
      if (!full) {
        ++pending;
        record.info.id = make_sortable_id(record.info.created_ms, random);
        secret = make_secret(prefix, random);
      }
    }
    if (full) {
      return done(fail(ErrorCode::conflict, "too_many_tokens", "there are too many tokens; revoke some first"));
    }
    record.digest = *digest_secret(prefix, secret);
    journal.write(
        [id = record.info.id, value = encode_token(record), stale, ousted](WriteTxn& txn) -> Result<void> {
          for (const auto* leaving : {&stale, &ousted}) {
            for (const auto& old : *leaving) {
              if (auto removed = txn.put_record(kTokenKind, old, ""); !removed) return removed;
            }
          }
          return txn.put_record(kTokenKind, id, value);
        },
        [impl = shared_from_this(), record, secret, stale, ousted,
         done = std::move(done)](Result<void> written) mutable {
          if (written && !ousted.empty()) impl->revoked(ousted);
          bool orphan = false;
          {
            MutexLock lock(impl->mutex);
            --impl->pending;
            if (written) {
              for (const auto& old : stale) impl->tokens.remove(old);
              // Its token may have been revoked during the write; load() also skips such a record.
              orphan = !record.info.parent.empty() && !impl->tokens.contains(record.info.parent);
              if (!orphan) impl->put(record);
            }
          }
          if (!written) return done(fail(std::move(written.error())));
          if (orphan) return done(bad_login_code());
          done(NewToken{std::move(record.info), std::move(secret)});
        });
  }

  Journal& journal;
  const Clock& clock;
  Random& random;

  Mutex mutex;
  TokenTable tokens GUARDED_BY(mutex);
  std::deque<std::string> revoked_here GUARDED_BY(mutex);
  std::size_t pending GUARDED_BY(mutex) = 0;  // tokens being written to the store
  Tickets tickets GUARDED_BY(mutex);
  LoginCodes login_codes GUARDED_BY(mutex);
  std::map<std::uint64_t, std::shared_ptr<const std::function<void(const std::string&)>>> callbacks GUARDED_BY(mutex);
  std::uint64_t last_callback GUARDED_BY(mutex) = 0;
  std::atomic<std::uint64_t> revision{1};
  std::atomic<std::int64_t> next_expiry_ms{std::numeric_limits<std::int64_t>::max()};
  std::unique_ptr<Follower> follower;  // nullptr: only this process changes tokens
};

Result<std::unique_ptr<Access>> Access::open(Journal& journal, const Clock& clock, Random& random) {
  auto impl = std::make_shared<Impl>(journal, clock, random);
  if (auto loaded = impl->load(); !loaded) return fail(loaded.error());
  return std::unique_ptr<Access>(new Access(std::move(impl)));
}

Access::Access(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<void> Access::follow(Executor& workers) {
  FollowOptions options;
  options.name = "access";
  options.events = false;
  auto follower = impl_->journal.follow(std::move(options), workers,
                                        [impl = impl_.get()](const News& news, auto done) { done(impl->take(news)); });
  if (!follower) return fail(std::move(follower.error()));
  impl_->follower = std::move(*follower);
  // What another process changed between the first reading and now.
  if (!impl_->reload()) {
    return fail(ErrorCode::unavailable, "io_error", "the tokens could not be read; start the server again");
  }
  return {};
}

void Access::stop_following() {
  impl_->follower.reset();
}

Access::~Access() {
  stop_following();
  MutexLock lock(impl_->mutex);
  impl_->callbacks.clear();
}

Result<std::shared_ptr<const Principal>> Access::authenticate(std::string_view secret) const {
  return impl_->find(kTokenPrefix, secret);
}

Result<std::shared_ptr<const Principal>> Access::authenticate_session(std::string_view secret) const {
  return impl_->find(kSessionPrefix, secret);
}

std::uint64_t Access::revision() const {
  std::int64_t now_ms = impl_->clock.wall_ms();
  if (now_ms >= impl_->next_expiry_ms.load(std::memory_order_relaxed)) {
    MutexLock lock(impl_->mutex);
    if (now_ms >= impl_->next_expiry_ms) {
      impl_->next_expiry_ms = impl_->tokens.next_expiry(now_ms);
      ++impl_->revision;
    }
  }
  return impl_->revision.load(std::memory_order_acquire);
}

bool Access::still_valid(const Principal& principal) const {
  if (principal.token_id.empty()) return true;
  std::int64_t now_ms = impl_->clock.wall_ms();
  MutexLock lock(impl_->mutex);
  return impl_->tokens.usable(principal.token_id, now_ms) != nullptr;
}

std::uint64_t Access::on_revoked(std::function<void(const std::string&)> callback) {
  MutexLock lock(impl_->mutex);
  impl_->callbacks.emplace(++impl_->last_callback,
                           std::make_shared<const std::function<void(const std::string&)>>(std::move(callback)));
  return impl_->last_callback;
}

void Access::forget(std::uint64_t callback_id) {
  MutexLock lock(impl_->mutex);
  impl_->callbacks.erase(callback_id);
}

void Access::create_token(std::string token_name, Scope scope, std::string only_task, std::int64_t expires_ms,
                          Done<NewToken> done) {
  std::int64_t now_ms = impl_->clock.wall_ms();
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
  impl_->add({.id = {},
              .name = std::move(token_name),
              .scope = scope,
              .only_task = std::move(only_task),
              .created_ms = now_ms,
              .expires_ms = expires_ms,
              .session = false,
              .parent = {}},
             std::move(done));
}

void Access::revoke_token(std::string id, Done<void> done) {
  std::vector<std::string> family;
  {
    MutexLock lock(impl_->mutex);
    family = impl_->tokens.family(id);
  }
  if (family.empty()) return done(fail(ErrorCode::not_found, "unknown_token", "there is no token with this id"));
  impl_->journal.write(
      [family](WriteTxn& txn) -> Result<void> {
        for (const auto& gone : family) {
          if (auto removed = txn.put_record(kTokenKind, gone, ""); !removed) return removed;
        }
        return {};
      },
      [impl = impl_, family, done = std::move(done)](Result<void> written) mutable {
        if (written) impl->revoked(family);
        done(std::move(written));
      });
}

std::vector<TokenInfo> Access::tokens() const {
  MutexLock lock(impl_->mutex);
  return impl_->tokens.list();
}

Result<std::string> Access::make_login_code(const Principal& principal) {
  std::int64_t steady_ms = impl_->clock.steady_ms();
  MutexLock lock(impl_->mutex);
  return impl_->add_login_code(principal, principal.token_id, steady_ms);
}

Result<std::string> Access::make_login_code_for(std::string_view token) {
  std::int64_t steady_ms = impl_->clock.steady_ms();
  std::int64_t now_ms = impl_->clock.wall_ms();
  MutexLock lock(impl_->mutex);
  const TokenInfo* known = impl_->tokens.named(token, now_ms);
  if (known == nullptr) {
    return fail(ErrorCode::not_found, "unknown_token",
                "no token, or more than one, has this name; `shepherd token list` shows their ids");
  }
  return impl_->add_login_code({known->id, known->name, known->scope, known->only_task}, known->id, steady_ms);
}

void Access::redeem_login_code(std::string_view code, Done<NewToken> done) {
  std::int64_t now_ms = impl_->clock.wall_ms();
  auto session = impl_->session_of(code, now_ms);
  if (!session) {
    return done(bad_login_code());
  }
  impl_->add(std::move(*session), std::move(done));
}

void Access::open_session(const Principal& principal, Done<NewToken> done) {
  std::int64_t now_ms = impl_->clock.wall_ms();
  std::optional<TokenInfo> session;
  {
    MutexLock lock(impl_->mutex);
    session = impl_->session_for(principal, now_ms);
  }
  if (!session) return done(bad_token());
  impl_->add(std::move(*session), std::move(done));
}

Result<std::string> Access::make_ticket(std::shared_ptr<const Principal> principal) {
  std::int64_t now_ms = impl_->clock.wall_ms();
  std::int64_t steady_ms = impl_->clock.steady_ms();
  MutexLock lock(impl_->mutex);
  if (!impl_->usable(*principal, now_ms)) return bad_token();
  std::string ticket = make_secret(kTicketPrefix, impl_->random);
  std::string owner = impl_->tokens.root(principal->token_id);
  if (!impl_->tickets.add(*digest_secret(kTicketPrefix, ticket), owner, std::move(principal), steady_ms)) {
    return too_many("too_many_tickets", "tickets");
  }
  return ticket;
}

Result<std::shared_ptr<const Principal>> Access::use_ticket(std::string_view ticket, std::string_view stream,
                                                            bool has_cursor) {
  std::int64_t now_ms = impl_->clock.wall_ms();
  std::int64_t steady_ms = impl_->clock.steady_ms();
  auto digest = digest_secret(kTicketPrefix, ticket);
  MutexLock lock(impl_->mutex);
  auto principal = digest ? impl_->tickets.use(*digest, stream, has_cursor, steady_ms) : nullptr;
  if (principal == nullptr || !impl_->usable(*principal, now_ms)) {
    return fail(ErrorCode::unauthenticated, "bad_ticket",
                "this ticket was used or is too old; get a new one from POST /api/v1/tickets");
  }
  return principal;
}

}  // namespace shepherd
