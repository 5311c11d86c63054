// Authentication: tokens, browser sessions, login links and tickets. Independent of HTTP; the gate in api maps requests
// to it.
//
// Tokens are random, named, expiring, listable and revocable; the store has only their SHA-256 (EventStore records of
// kind "token"). The text form is "shp_" + 43 characters of base64url (32 random bytes). A browser's session is another
// kind of secret ("shs_"), so a stolen cookie cannot be used as a token.
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
#include "base/executor.h"
#include "base/random.h"
#include "base/result.h"
#include "journal/journal.h"

namespace shepherd {

struct NewToken {
  TokenInfo info;
  std::string secret;  // shown once
};

// Threads: any. Reads answer from memory. Changes go through the journal and call back after the commit, on the
// writer's thread; earlier refusals call back at once, on the caller's thread.
class Access {
 public:
  // Loads the tokens from the store. The references must outlive it; `random` must be suitable for secrets and is used
  // by one thread at a time.
  static Result<std::unique_ptr<Access>> open(Journal& journal, const Clock& clock, Random& random);
  // From now on tokens that another process makes or revokes count here, too. Runs on `workers`, which must run until
  // this is destroyed.
  Result<void> follow(Executor& workers);
  void stop_following();  // before the workers end
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // Returns the principal of a token or of a browser's session cookie; neither is accepted as the other.
  // unauthenticated/bad_token, unauthenticated/token_expired.
  Result<std::shared_ptr<const Principal>> authenticate(std::string_view secret) const;
  Result<std::shared_ptr<const Principal>> authenticate_session(std::string_view secret) const;
  // Grows with every revocation and expiry. A cached principal is valid while this has not changed, or if
  // still_valid().
  std::uint64_t revision() const;
  bool still_valid(const Principal& principal) const;
  // Calls back (on any thread) after a token was revoked, once for it and once for each of its sessions, so that live
  // streams can be ended. Returns an id for forget(), which does not wait for an active call: capture a weak_ptr.
  std::uint64_t on_revoked(std::function<void(const std::string& token_id)> callback);
  void forget(std::uint64_t callback_id);

  // expires_ms is 0 for never. invalid_argument/bad_token_name, /bad_token_task (only producers have a task),
  // /bad_token_expiry; conflict/too_many_tokens.
  void create_token(std::string token_name, Scope scope, std::string only_task, std::int64_t expires_ms,
                    Done<NewToken> done);
  // Revokes the token and the browser sessions made with it, in one transaction. not_found/unknown_token.
  void revoke_token(std::string id, Done<void> done);
  std::vector<TokenInfo> tokens() const;  // oldest first

  // Creates a one-time login code, which becomes a browser session with the same rights, once, within kLoginLinkLife.
  // The session lives for kSessionLife, but not longer than the requesting token. A token with kLoginCodesPerToken open
  // links loses its oldest. rate_limited/too_many_login_links if all tokens together have too many.
  Result<std::string> make_login_code(const Principal& principal);
  // The same for the token with this name or id. not_found/unknown_token if there is none or several.
  Result<std::string> make_login_code_for(std::string_view token);
  void redeem_login_code(std::string_view code, Done<NewToken> done);  // unauthenticated/bad_login_code
  // Opens a session for a caller that has the token itself. unauthenticated/bad_token if it was revoked meanwhile.
  void open_session(const Principal& principal, Done<NewToken> done);

  // Tickets for streams of clients that cannot set headers. A ticket is valid once within kTicketLife; its stream may
  // reconnect with it and a cursor for kTicketReconnect. `stream` is the path of its first use. A token with
  // kTicketsPerToken tickets loses its own oldest. make: unauthenticated/bad_token if the principal's token is gone;
  // rate_limited/too_many_tickets if all tokens together have too many. use: unauthenticated/bad_ticket.
  Result<std::string> make_ticket(std::shared_ptr<const Principal> principal);
  Result<std::shared_ptr<const Principal>> use_ticket(std::string_view ticket, std::string_view stream,
                                                      bool has_cursor);

 private:
  struct Impl;
  explicit Access(std::shared_ptr<Impl> impl);
  const std::shared_ptr<Impl> impl_;  // shared: completions of the journal may outlive this
};

// Creates the admin token of a data directory at the first start and keeps it in `path` (mode 0600; its directory must
// exist). Later starts keep a file with a valid token and replace a missing or stale one by a new token. Returns the
// secret. Blocks until the token is committed, so never call it on the writer's thread.
Result<std::string> ensure_admin_token(Access& access, const std::string& path);

}  // namespace shepherd
