// Authentication: tokens, browser sessions, login links and tickets. No HTTP words here; api/credentials.h maps
// requests to it.
//
// Tokens are random, named, expiring, listable and revocable; only a SHA-256 of them is stored (EventStore records of
// kind "token"). Text form: "shp_" + 43 characters of base64url (32 random bytes). A browser's session is a secret of
// another kind ("shs_"): a stolen cookie does not work as a token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.h"
#include "access/token_table.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "journal/journal.h"

namespace shepherd {

struct NewToken {
  TokenInfo info;
  std::string secret;  // shown once
};

// Threads: any. Reads answer from memory; changes go through the journal and call back after the commit, on the
// writer's thread. What is refused before that calls back at once, on the caller's.
class Access {
 public:
  // Loads the tokens from the store. The references must outlive it; `random` must be fit for secrets and is used by
  // one thread at a time.
  static Result<std::unique_ptr<Access>> open(Journal& journal, const Clock& clock, Random& random);
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // The principal of a token, or of the session in a browser's cookie; neither is taken for the other.
  // unauthenticated/bad_token, unauthenticated/token_expired.
  Result<std::shared_ptr<const Principal>> authenticate(std::string_view secret) const;
  Result<std::shared_ptr<const Principal>> authenticate_session(std::string_view secret) const;
  // Grows with every revocation and every expiry; a cached principal is good while it has not changed, or if
  // still_valid().
  std::uint64_t revision() const;
  bool still_valid(const Principal& principal) const;
  // Calls back (any thread) after a token was revoked, once for it and for each session that goes with it, so that live
  // streams can be cut. Returns an id for forget(), which does not wait for a call that is under way: capture a
  // weak_ptr.
  std::uint64_t on_revoked(std::function<void(const std::string& token_id)> callback);
  void forget(std::uint64_t callback_id);

  // expires_ms 0: never. invalid_argument/bad_token_name, /bad_token_task (only producers have one), /bad_token_expiry;
  // conflict/too_many_tokens.
  void create_token(std::string token_name, Scope scope, std::string only_task, std::int64_t expires_ms,
                    Done<NewToken> done);
  // Takes the browser sessions that were made with it along, all in one transaction. not_found/unknown_token.
  void revoke_token(std::string id, Done<void> done);
  std::vector<TokenInfo> tokens() const;  // oldest first

  // One-time login links: a code that becomes a browser session of the same rights, once, within kLoginLinkLife. The
  // session lives kSessionLife, but not longer than the token that asked for the link. A token that has
  // kLoginCodesPerToken open links loses its oldest. rate_limited/too_many_login_links: all tokens together have too
  // many.
  Result<std::string> make_login_code(const Principal& principal);
  // The same for the token of this name or id. not_found/unknown_token: there is none, or there are several.
  Result<std::string> make_login_code_for(std::string_view token);
  void redeem_login_code(std::string_view code, Done<NewToken> done);  // unauthenticated/bad_login_code
  // A session for a caller that has the token itself. unauthenticated/bad_token when it is gone meanwhile.
  void open_session(const Principal& principal, Done<NewToken> done);

  // Tickets for streams of clients that cannot set headers: single use within kTicketLife; the stream that used it may
  // reconnect with it and a cursor for kTicketReconnect. `stream` is the path it is first used on.
  // A token that has kTicketsPerToken loses its own oldest. make: unauthenticated/bad_token when the principal's token
  // is gone; rate_limited/too_many_tickets when all tokens together have too many. use: unauthenticated/bad_ticket.
  Result<std::string> make_ticket(std::shared_ptr<const Principal> principal);
  Result<std::shared_ptr<const Principal>> use_ticket(std::string_view ticket, std::string_view stream,
                                                      bool has_cursor);

 private:
  struct Impl;
  explicit Access(std::shared_ptr<Impl> impl);
  const std::shared_ptr<Impl> impl_;  // shared: completions of the journal may outlive this
};

// Makes the admin token of a data directory at first start and keeps it in `path` (mode 0600, its directory must
// exist). Later starts leave a file whose token still works; a missing or stale file is replaced by a new token.
// Returns the secret. Blocks until the token is committed, so never call it on the writer's thread.
Result<std::string> ensure_admin_token(Access& access, const std::string& path);

}  // namespace shepherd
