#include "net/url.h"

#include <algorithm>
#include <charconv>

#include "net/text.h"

namespace shepherd::net {

namespace {

struct Scheme {
  std::string_view prefix;
  bool secure;
};
constexpr Scheme kSchemes[] = {{"http://", false}, {"https://", true}, {"ws://", false}, {"wss://", true}};

std::unexpected<Error> bad_url(std::string_view url, const std::string& why) {
  return fail(ErrorCode::invalid_argument, "bad_url",
              "'" + std::string(url) + "' is not a usable URL: " + why + "; give for example http://127.0.0.1:8080");
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

std::string host_header(const Url& url) {
  bool usual = url.port == (url.secure ? "443" : "80");
  return usual ? bracketed(url.host) : host_and_port(url);
}

std::string host_and_port(const Url& url) {
  return bracketed(url.host) + ":" + url.port;
}

Result<Url> parse_url(std::string_view url) {
  Url parts;
  std::string_view rest;
  for (const Scheme& scheme : kSchemes) {
    if (!equals_ignoring_case(url.substr(0, scheme.prefix.size()), scheme.prefix)) continue;
    parts.secure = scheme.secure;
    rest = url.substr(scheme.prefix.size());
  }
  if (rest.empty()) return bad_url(url, "it does not start with http://, https://, ws:// or wss:// and a host");
  if (!std::ranges::all_of(rest, [](char c) { return c > 0x20 && c < 0x7f; })) {
    return bad_url(url, "it has a character that must be percent-encoded");
  }
  rest = rest.substr(0, rest.find('#'));
  std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(authority.size());
  if (authority.find('@') != std::string_view::npos) return bad_url(url, "user names and passwords do not go into it");

  std::string_view port;
  if (authority.starts_with('[')) {
    std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return bad_url(url, "the IPv6 address does not end");
    parts.host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
    if (!authority.empty() && authority.front() != ':') return bad_url(url, "behind the address comes no port");
    port = authority.substr(std::min<std::size_t>(1, authority.size()));
  } else {
    std::size_t colon = authority.find(':');
    parts.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon + 1);
  }
  if (parts.host.empty()) return bad_url(url, "it has no host");
  if (!port.empty()) {
    unsigned number = 0;
    auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65'535) {
      return bad_url(url, "the port is not a number up to 65535");
    }
  }
  parts.port = port.empty() ? (parts.secure ? "443" : "80") : std::string(port);
  parts.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  return parts;
}

}  // namespace shepherd::net
