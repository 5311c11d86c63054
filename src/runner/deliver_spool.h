// Delivers a spool that somebody left behind.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "client/live_client.h"
#include "net/client.h"
#include "runner/spool.h"

namespace shepherd {

struct Delivered {
  std::uint64_t events = 0;  // that the server has now
  std::uint64_t left = 0;
  std::string trouble;  // why some are left
};

// Tries for kPendingDrain. A task that ended while the events were away takes no more: they are given up with it.
// Errors are those of Spool::open(), e.g. unavailable/spool_in_use.
Result<Delivered> deliver_spool(const std::string& path, const Locate& locate, const net::ClientTls& tls,
                                const Clock& clock);

}  // namespace shepherd
