// Tickets and login codes: short-lived secrets that stand for a principal. They live in memory only; a restart
// forgets them, and clients ask for new ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "access/limits.h"
#include "access/principal.h"
#include "access/secret.h"

namespace shepherd {

// Stream tickets. Unused ones live kTicketLife; a used one is good for reconnects of the same stream that carry a
// cursor, for kTicketReconnect after its first use. Beyond `capacity` the oldest unused ticket goes first.
// Threads: caller.
class Tickets {
 public:
  explicit Tickets(std::size_t capacity = kMaxTickets) : capacity_(capacity) {}

  void add(const Digest& ticket, std::shared_ptr<const Principal> principal, std::int64_t steady_ms);
  // nullptr: unknown, too late, another stream, or a second use without a cursor.
  std::shared_ptr<const Principal> use(const Digest& ticket, std::string_view stream, bool has_cursor,
                                       std::int64_t steady_ms);
  void drop_token(std::string_view token_id);
  std::size_t size() const { return known_.size(); }

 private:
  struct Ticket {
    Digest digest;
    std::shared_ptr<const Principal> principal;
    std::int64_t since_ms = 0;  // made, then first used
    bool used = false;
    std::string stream;
  };
  using Queue = std::list<Ticket>;  // oldest first: one lifetime for all, so only the front can be over

  void prune(std::int64_t steady_ms);
  void drop_front(Queue& queue);

  std::size_t capacity_;
  Queue unused_, used_;
  std::unordered_map<Digest, Queue::iterator, DigestHash> known_;
};

// One-time login codes: each is good once, within kLoginLinkLife.
// Threads: caller.
class LoginCodes {
 public:
  void add(const Digest& code, Principal principal, std::int64_t steady_ms);
  std::optional<Principal> take(const Digest& code, std::int64_t steady_ms);
  void drop_token(std::string_view token_id);

 private:
  struct Code {
    Digest digest;
    Principal principal;
    std::int64_t made_ms = 0;
  };
  std::list<Code> codes_;  // oldest first; few enough to search
};

}  // namespace shepherd
