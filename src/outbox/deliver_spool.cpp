#include "outbox/deliver_spool.h"

#include <memory>

#include "base/log.h"
#include "base/random.h"
#include "outbox/event_sink.h"
#include "outbox/limits.h"
#include "outbox/outbox.h"

namespace shepherd {
namespace {

bool on_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// The server of a data directory may have another port each time; on this machine each directory has one server.
bool meant_for(const SpoolIdentity& identity, const std::string& url) {
  if (identity.destination.empty() || identity.destination == url) return true;
  Result<net::Url> meant = net::parse_url(identity.destination);
  Result<net::Url> asked = net::parse_url(url);
  return meant && asked && on_this_machine(meant->host) && on_this_machine(asked->host);
}

std::string set_aside(const PendingSpool& spool, const Locate& locate) {
  Result<Destination> asked = locate();
  if (!asked || !meant_for(spool.identity, asked->internal_url)) return {};
  Result<std::string> aside = Spool::set_aside(spool.path);
  if (!aside) log_warn("{}", aside.error().message);
  return aside.value_or("");
}

}  // namespace

Result<Delivered> deliver_spool(const PendingSpool& spool, const Locate& locate, const net::ClientTls& tls,
                                const Clock& clock) {
  std::unique_ptr<EventSink> sink = make_server_sink(locate, tls, spool.identity.lease);
  SystemRandom random;
  Result<std::unique_ptr<Outbox>> outbox = Outbox::resume(spool.path, *sink, clock, random);
  if (!outbox) return fail(std::move(outbox.error()));
  Drained drained = (*outbox)->drain(kPendingDrain);
  Delivered delivered{drained.status.delivered, drained.status.undelivered, "", false, ""};
  if (drained.status.trouble) delivered.trouble = drained.status.trouble->message;
  OutboxState state = drained.status.state;
  delivered.stuck = state == OutboxState::waiting || state == OutboxState::refused;
  if (state == OutboxState::orphaned || state == OutboxState::superseded)
    delivered.set_aside = set_aside(spool, locate);
  return delivered;
}

}  // namespace shepherd
