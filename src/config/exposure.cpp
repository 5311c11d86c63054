#include "config/exposure.h"

#include <fmt/format.h>

#include <string>

namespace shepherd {
namespace {

Result<void> check_port(const PortConfig& port, std::string_view name, std::string_view flag, bool insecure_bind) {
  if (port.tls_cert.empty() != port.tls_key.empty()) {
    return fail(
        ErrorCode::invalid_argument, "half_tls",
        fmt::format("{}.tls needs both a certificate and a key: give {}tls-cert and {}tls-key", name, flag, flag));
  }
  if (is_loopback(port.listen)) return {};
  if (port.auth == "none" && !port.trusted_network) {
    return fail(
        ErrorCode::invalid_argument, "exposed",
        fmt::format("{}.auth none would open {} to anyone who can reach it; listen on 127.0.0.1, or keep "
                    "tokens{}",
                    name, port.listen,
                    name == "internal" ? ", or set internal.trusted_network if only trusted programs reach it" : ""));
  }
  if (port.tls_cert.empty() && !insecure_bind) {
    return fail(ErrorCode::invalid_argument, "exposed",
                fmt::format("{} is reachable from other machines, and without TLS tokens travel in the clear; give "
                            "{}tls-cert and {}tls-key, or --insecure-bind if something in front does TLS",
                            port.listen, flag, flag));
  }
  return {};
}

}  // namespace

bool is_loopback(std::string_view listen) {
  std::string_view host = listen.substr(0, listen.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "::1" || host == "localhost") return true;
  // 127.0.0.0/8, but not a host name that starts like it.
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

Result<void> check_exposure(const Config& config) {
  if (Result<void> open = check_port(config.public_port, "public", "--", config.insecure_bind); !open) return open;
  if (config.grpc.listen != kNoListen) {
    PortConfig grpc = config.grpc;
    grpc.auth = config.public_port.auth;
    if (Result<void> safe = check_port(grpc, "grpc", "--grpc-", config.insecure_bind); !safe) return safe;
  }
  return check_port(config.internal, "internal", "--internal-", config.insecure_bind);
}

}  // namespace shepherd
