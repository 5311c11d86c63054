// The gate: what every request passes before its body is read. Route, Host, Origin, credentials, rights, media type.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "access/principal.h"
#include "api/core.h"
#include "api/credentials.h"
#include "api/producer_trail.h"
#include "api/router.h"
#include "net/http.h"

namespace shepherd {

// What the gate found out about a request.
struct Pass {
  const Route* route = nullptr;
  PathParts parts;
  std::shared_ptr<const Principal> principal;  // nullptr on open routes
  CredentialKind credential = CredentialKind::none;
  unsigned listener = kOnPublic;  // where it came in
};

struct Refusal {
  const Route* route = nullptr;                // nullptr: there is none
  std::shared_ptr<const Principal> principal;  // nullptr: not known
  Error error;
  int status = 0;
  std::string allow;  // 405 only
};

bool has_body(const net::Request& request);  // by its headers

// What a connection keeps between requests (net::Request::connection_slot). Threads: strand (the connection's).
struct ConnectionState {
  std::string authorization;  // the last Authorization header that was good
  std::shared_ptr<const Principal> principal;
  std::uint64_t revision = 0;            // of Access, when it was
  std::optional<Pass> admitted;          // between admit() and handle() of one request
  std::shared_ptr<ProducerTrail> trail;  // of the posts that go to one task
};
// The request's connection state, made on first use; nullptr when the connection has no slot.
ConnectionState* connection_state(const net::Request& request);

// Threads: any.
class Gate {
 public:
  Gate(Core& core, unsigned listener, const ListenerConfig& config);
  std::expected<Pass, Refusal> check(const net::Request& request);

 private:
  struct Identity {
    std::shared_ptr<const Principal> principal;
    CredentialKind credential = CredentialKind::none;
  };
  Result<Identity> identify(const net::Request& request, const Route& route);
  Result<Identity> look_up(const net::Request& request, const Route& route);
  bool allowed(const Principal& principal, const Route& route, std::string_view task) const;

  Core& core_;
  const ListenerConfig& config_;
  const unsigned listener_;
  Router router_;
  std::string other_listener_;
  std::shared_ptr<const Principal> anonymous_;  // every caller of a listener without authentication
};

}  // namespace shepherd
