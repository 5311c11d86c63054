// Delivers a spool that an earlier runner left behind.
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
  std::uint64_t events = 0;  // that the server has now
  std::uint64_t left = 0;
  std::string trouble;    // why some are left
  bool stuck = false;     // the server is away or refuses us: another spool would fail too
  std::string set_aside;  // not empty: the path of the rest, which no server can take; not tried again
};

// Tries for kPendingDrain. A task that ended while the events were away takes no more: they are given up with it. One
// that another runner has by now, or that the server does not know, is none of the spool's: it is set aside; but not by
// a server that the spool was never meant for (its destination is another machine), which is only not asked again.
// Errors are those of Spool::open(), e.g. unavailable/spool_in_use.
Result<Delivered> deliver_spool(const PendingSpool& spool, const Locate& locate, const net::ClientTls& tls,
                                const Clock& clock);

}  // namespace shepherd
