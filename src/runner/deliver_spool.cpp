#include "runner/deliver_spool.h"

#include <memory>

#include "base/limits.h"
#include "base/random.h"
#include "runner/event_sink.h"
#include "runner/outbox.h"

namespace shepherd {

Result<Delivered> deliver_spool(const std::string& path, const Locate& locate, const net::ClientTls& tls,
                                const Clock& clock) {
  std::unique_ptr<EventSink> sink = make_server_sink(locate, tls);
  SystemRandom random;
  Result<std::unique_ptr<Outbox>> outbox = Outbox::resume(path, *sink, clock, random);
  if (!outbox) return fail(std::move(outbox.error()));
  Drained drained = (*outbox)->drain(kPendingDrain);
  Delivered delivered{drained.status.delivered, drained.status.undelivered, ""};
  if (drained.status.trouble) delivered.trouble = drained.status.trouble->message;
  return delivered;
}

}  // namespace shepherd
