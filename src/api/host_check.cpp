#include "api/host_check.h"

#include <algorithm>
#include <cctype>

namespace shepherd {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Removes the port from "name:port" or "[::1]:port"; returns an empty text for anything else.
std::string_view host_name(std::string_view host) {
  std::size_t end = host.empty() || host.front() != '[' ? host.find(':') : host.find(']');
  if (end != std::string_view::npos && host[end] == ']') ++end;
  std::string_view name = host.substr(0, std::min(end, host.size()));
  std::string_view port = host.substr(name.size());
  if (port.empty()) return name;
  bool good = port.size() > 1 && port.size() <= 6 && port.front() == ':' &&
              std::all_of(port.begin() + 1, port.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return good ? name : std::string_view{};
}

bool is_address(std::string_view name) {
  if (name.empty()) return false;
  if (name.front() == '[') {
    return name.back() == ']' && name.size() > 2 && std::all_of(name.begin() + 1, name.end() - 1, [](unsigned char c) {
             return std::isxdigit(c) || c == ':' || c == '.';
           });
  }
  // Browsers treat a host whose last label is digits as an IPv4 address and never look it up as a name.
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) || c == '.'; });
}

bool is_loopback_name(std::string_view name) {
  constexpr std::string_view kLocalhost = "localhost";
  if (equal_ignoring_case(name, kLocalhost)) return true;
  return name.size() > kLocalhost.size() + 1 && name[name.size() - kLocalhost.size() - 1] == '.' &&
         equal_ignoring_case(name.substr(name.size() - kLocalhost.size()), kLocalhost);
}

}  // namespace

std::string own_name_url(std::string_view host, bool secure) {
  std::string_view name = host_name(host);
  bool loopback =
      name.starts_with("127.") ? is_address(name) : name == "[::1]" || equal_ignoring_case(name, "localhost");
  if (secure || !loopback) return {};
  return "http://" + std::string(kPageHost) + std::string(host.substr(name.size()));
}

bool is_own_domain(std::string_view host) {
  std::string_view name = host_name(host);
  return !name.empty() && !is_address(name) && name.front() != '[' && !is_loopback_name(name);
}

Result<void> check_host(const net::Request& request, const ListenerConfig& config) {
  std::string_view host = request.header("host");
  if (config.any_host || host.empty()) return {};
  std::string_view name = host_name(host);
  if (is_address(name) || is_loopback_name(name)) return {};
  for (const std::string& allowed : config.hosts) {
    if (equal_ignoring_case(allowed, name) || equal_ignoring_case(allowed, host)) return {};
  }
  return fail(ErrorCode::permission_denied, "bad_host",
              "This server does not answer to that Host name. Add it to the configuration's list of hosts.");
}

std::string_view chat_origin(const net::Request& request, const ListenerConfig& config) {
  std::string_view origin = request.header("origin");
  auto found = std::find(config.chat_origins.begin(), config.chat_origins.end(), origin);
  return found == config.chat_origins.end() ? std::string_view() : std::string_view(*found);
}

Result<void> check_origin(const net::Request& request, const ListenerConfig& config, OriginRule rule) {
  std::string_view origin = request.header("origin");
  if (origin.empty()) {
    if (rule == OriginRule::if_sent || request.header("sec-fetch-site") == "same-origin") return {};
    return fail(ErrorCode::permission_denied, "bad_origin",
                "A request that uses the session cookie must say its Origin. Programs should use a bearer token.");
  }
  std::size_t scheme_end = origin.find("://");
  if (scheme_end != std::string_view::npos &&
      equal_ignoring_case(origin.substr(scheme_end + 3), request.header("host"))) {
    return {};
  }
  if (std::find(config.origins.begin(), config.origins.end(), origin) != config.origins.end()) return {};
  return fail(ErrorCode::permission_denied, "bad_origin",
              "Pages of that origin may not call this server. Add it to the configuration's list of origins.");
}

}  // namespace shepherd
