#include "net/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "base/base64.h"
#include "net/http.h"
#include "net/text.h"

namespace shepherd::net {

namespace {

using AddressBytes = std::vector<std::uint8_t>;  // 4 or 16; empty if the text is no address

AddressBytes address_bytes(std::string_view host) {
  std::string text(host);
  AddressBytes bytes(16);
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(4);
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

bool is_loopback(std::string_view host) {
  AddressBytes bytes = address_bytes(host);
  if (bytes.size() == 4) return bytes[0] == 127;
  if (bytes.size() == 16) {
    bool mapped = std::ranges::all_of(bytes.begin(), bytes.begin() + 10, [](auto b) { return b == 0; }) &&
                  bytes[10] == 0xff && bytes[11] == 0xff;
    bool one = std::ranges::all_of(bytes.begin(), bytes.end() - 1, [](auto b) { return b == 0; }) && bytes[15] == 1;
    return one || (mapped && bytes[12] == 127);
  }
  return host == "localhost" || host.ends_with(".localhost");
}

bool in_network(const AddressBytes& address, std::string_view network) {
  std::size_t slash = network.find('/');
  AddressBytes base = address_bytes(network.substr(0, slash));
  if (base.empty() || base.size() != address.size()) return false;
  unsigned bits = static_cast<unsigned>(base.size() * 8);
  if (slash != std::string_view::npos) {
    std::string_view digits = network.substr(slash + 1);
    unsigned given = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), given);
    if (error != std::errc() || end != digits.data() + digits.size() || given > bits) return false;
    bits = given;
  }
  for (std::size_t i = 0; i < base.size() && bits > 0; ++i) {
    unsigned here = std::min(bits, 8U);
    auto mask = static_cast<std::uint8_t>(0xff00U >> here);
    if (((base[i] ^ address[i]) & mask) != 0) return false;
    bits -= here;
  }
  return true;
}

// Takes ":port" or "]:port" off an entry. An IPv6 address without brackets has no port.
std::string_view take_port(std::string_view& entry) {
  if (entry.starts_with('[')) {
    std::size_t close = entry.find(']');
    if (close == std::string_view::npos) return {};
    std::string_view port = entry.substr(close + 1);
    entry = entry.substr(1, close - 1);
    return port.starts_with(':') ? port.substr(1) : std::string_view{};
  }
  if (std::ranges::count(entry, ':') != 1) return {};
  std::size_t colon = entry.find(':');
  std::string_view port = entry.substr(colon + 1);
  entry = entry.substr(0, colon);
  return port;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

Result<Proxy> parse_proxy(std::string_view text) {
  auto bad = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "bad_proxy",
                "the proxy from the environment cannot be used: " + why +
                    "; set http_proxy and https_proxy to http://host:port, or list the host in no_proxy");
  };
  std::string url(text);
  if (url.find("://") == std::string::npos) url.insert(0, "http://");
  if (!equals_ignoring_case(std::string_view(url).substr(0, 7), "http://")) return bad("it is not an http:// URL");
  constexpr std::size_t kHostAt = 7;
  Proxy proxy;
  std::string_view authority = std::string_view(url).substr(kHostAt);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    auto credentials = percent_decode(authority.substr(0, at), false);
    if (!credentials) return bad("its user name is not percent-encoded");
    std::string encoded = encode_base64(*credentials);
    while (encoded.size() % 4 != 0) encoded += '=';
    proxy.authorization = "Basic " + encoded;
    url.erase(kHostAt, at + 1);
  }
  auto parsed = parse_url(url);
  if (!parsed) return bad("it is not a URL");  // without the parser's words, which may quote a password
  proxy.url = *std::move(parsed);
  return proxy;
}

}  // namespace

ProxyRules::ProxyRules(const Environment& environment) {
  auto either = [&](const char* lower_name, const char* upper_name) {
    std::string value = environment(lower_name);
    return value.empty() ? environment(upper_name) : value;
  };
  http_ = environment("http_proxy");
  https_ = either("https_proxy", "HTTPS_PROXY");
  std::string list = lower(either("no_proxy", "NO_PROXY"));
  for (std::string_view rest = list; !rest.empty();) {
    std::string_view entry = trim_blanks(rest.substr(0, rest.find(',')));
    if (!entry.empty()) exempt_.emplace_back(entry);
    std::size_t comma = rest.find(',');
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
}

ProxyRules ProxyRules::of_process() {
  return ProxyRules([](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
}

bool ProxyRules::is_exempt(const Url& url) const {
  std::string host = lower(url.host);
  if (host.ends_with('.')) host.pop_back();
  if (is_loopback(host)) return true;
  AddressBytes address = address_bytes(host);
  return std::ranges::any_of(exempt_, [&](std::string_view entry) {
    if (entry == "*") return true;
    std::string_view port = take_port(entry);
    if (!port.empty() && port != url.port) return false;
    if (!address.empty()) return in_network(address, entry);
    if (entry.starts_with("*.")) entry.remove_prefix(1);
    if (entry.starts_with('.')) entry.remove_prefix(1);
    if (entry.empty() || !host.ends_with(entry)) return false;
    return host.size() == entry.size() || host[host.size() - entry.size() - 1] == '.';
  });
}

Result<std::optional<Proxy>> ProxyRules::find(const Url& url) const {
  const std::string& text = url.secure ? https_ : http_;
  if (text.empty() || is_exempt(url)) return std::nullopt;
  auto proxy = parse_proxy(text);
  if (!proxy) return fail(std::move(proxy.error()));
  return std::optional(*std::move(proxy));
}

}  // namespace shepherd::net
