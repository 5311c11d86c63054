// Delivers a spool that an ended process left behind.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "client/live_client.h"
#include "net/client.h"
#include "outbox/spool.h"

namespace shepherd {

struct Delivered {
  std::uint64_t events = 0;  // events that the server now has
  std::uint64_t left = 0;
  std::string trouble;    // why some are left
  bool stuck = false;     // the server is down or refuses us, so other spools would fail, too
  std::string set_aside;  // if not empty, the rest can never be delivered; it was moved here and is not tried again
};

// Tries for kPendingDrain. A task that ended meanwhile accepts no more events, so they are discarded with it. If
// another runner has the task by now, or the server does not have it, the spool is set aside. If the spool was meant
// for a server on another machine, it is kept and only not tried again here. Errors are those of Spool::open(), e.g.
// unavailable/spool_in_use.
Result<Delivered> deliver_spool(const PendingSpool& spool, const Locate& locate, const net::ClientTls& tls,
                                const Clock& clock);

}  // namespace shepherd
