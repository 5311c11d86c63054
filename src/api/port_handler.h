// The HttpHandler of one listener: runs the gate once the headers are complete, and the route's handler once the body
// is.
#pragma once

#include <string_view>

#include "api/call.h"
#include "api/core.h"
#include "api/gate.h"
#include "api/route_metrics.h"
#include "net/http.h"

namespace shepherd {

// Threads: any.
class PortHandler final : public net::HttpHandler {
 public:
  PortHandler(Core& core, unsigned listener, std::string_view name, const ListenerConfig& config);

  net::Admission admit(const net::Request& head) override;
  void handle(net::Request&& request, net::Responder responder) override;
  net::Response protocol_error(int status, std::string_view reason, std::string_view message) override;

 private:
  net::Response refuse(const net::Request& request, const Refusal& refusal);

  Core& core_;
  RouteMetrics metrics_;
  Gate gate_;
};

}  // namespace shepherd
