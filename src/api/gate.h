// The gate checks every request before its body is read: route, Host, Origin, credentials, rights, media type.
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

// The gate's result for an accepted request.
struct Pass {
  const Route* route = nullptr;
  PathParts parts;
  std::shared_ptr<const Principal> principal;  // nullptr on open routes
  CredentialKind credential = CredentialKind::none;
  unsigned listener = kOnPublic;  // the listener that received it
  std::string_view shared_with;   // the other origin whose page may read the answer; or empty
};

struct Refusal {
  const Route* route = nullptr;                // nullptr if there is none
  std::shared_ptr<const Principal> principal;  // nullptr if unknown
  Error error;
  int status = 0;
  std::string allow;  // 405 only
};

bool has_body(const net::Request& request);  // by its headers

// Tells a browser that a page of this origin may read the response.
void share_response(net::Response& response, std::string_view origin);

// The state of a connection between requests (net::Request::connection_slot). Threads: strand (the connection's).
struct ConnectionState {
  std::string authorization;  // the last valid Authorization header
  std::shared_ptr<const Principal> principal;
  std::uint64_t revision = 0;            // revision of Access at that time
  std::optional<Pass> admitted;          // between admit() and handle() of one request
  std::shared_ptr<ProducerTrail> trail;  // for posts to one task
};
// Returns the request's connection state, created on first use; nullptr if the connection has no slot.
ConnectionState* connection_state(const net::Request& request);

// Threads: any.
class Gate {
 public:
  Gate(Core& core, unsigned listener, const ListenerConfig& config);
  std::expected<Pass, Refusal> check(const net::Request& request);
  // The origin of another site whose page may read the answers of this route, or empty. Lives as long as the gate.
  std::string_view shared_with(const net::Request& request, const Route& route) const;
  // The answer to a browser that asks whether such a page may make a request; nullopt for anything else.
  std::optional<net::Response> preflight(const net::Request& request) const;

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
  std::shared_ptr<const Principal> anonymous_;  // the principal of every caller if the listener has no authentication
};

}  // namespace shepherd
