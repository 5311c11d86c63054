// Tickets and login codes: short-lived secrets for a principal. They are only in memory; after a restart clients
// request new ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "access/limits.h"
#include "access/principal.h"
#include "access/secret.h"

namespace shepherd {

// Stream tickets. Unused ones live for kTicketLife; a used one is valid for reconnects of the same stream with a
// cursor, for kTicketReconnect after its first use. An owner (a token with its sessions) with too many loses its own
// oldest, unused ones first; tickets of other owners are never evicted.
// Threads: caller.
class Tickets {
 public:
  explicit Tickets(std::size_t capacity = kMaxTickets, std::size_t per_owner = kTicketsPerToken)
      : capacity_(capacity), per_owner_(per_owner) {}

  // Returns false at the maximum if none of the codes is this owner's.
  bool add(const Digest& ticket, const std::string& owner, std::shared_ptr<const Principal> principal,
           std::int64_t steady_ms);
  // Returns nullptr for an unknown or expired ticket, another stream, or a second use without a cursor.
  std::shared_ptr<const Principal> use(const Digest& ticket, std::string_view stream, bool has_cursor,
                                       std::int64_t steady_ms);
  void drop_tokens(const std::unordered_set<std::string>& token_ids);
  std::size_t size() const { return known_.size(); }

 private:
  struct Ticket {
    Digest digest;
    std::shared_ptr<const Principal> principal;
    std::int64_t since_ms = 0;  // creation, later first use
    bool used = false;
    std::string stream;
    std::string owner;
  };
  using Queue = std::list<Ticket>;  // oldest first; all have the same life, so only the front can have expired

  void prune(std::int64_t steady_ms);
  void drop(Queue::iterator ticket);

  std::size_t capacity_, per_owner_;
  Queue unused_, used_;
  std::unordered_map<Digest, Queue::iterator, DigestHash> known_;
  std::unordered_map<std::string, std::list<Queue::iterator>> owned_;  // at most per_owner_ each, oldest first
};

// One-time login codes: each is valid once within kLoginLinkLife. An owner with too many loses its own oldest.
// Threads: caller.
class LoginCodes {
 public:
  // False: there are as many as there may be, and none of them is this owner's to drop.
  bool add(const Digest& code, const std::string& owner, Principal principal, std::int64_t steady_ms);
  std::optional<Principal> take(const Digest& code, std::int64_t steady_ms);
  void drop_tokens(const std::unordered_set<std::string>& token_ids);

 private:
  struct Code {
    Digest digest;
    Principal principal;
    std::int64_t made_ms = 0;
    std::string owner;
  };
  using Queue = std::list<Code>;

  void prune(std::int64_t steady_ms);
  void drop(Queue::iterator code);

  Queue codes_;  // oldest first
  std::unordered_map<Digest, Queue::iterator, DigestHash> known_;
  std::unordered_map<std::string, std::list<Queue::iterator>> owned_;
};

}  // namespace shepherd
