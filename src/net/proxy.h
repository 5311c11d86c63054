// Which calls go through a proxy: the rules of http_proxy, https_proxy and no_proxy.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/url.h"

namespace shepherd::net {

struct Proxy {
  Url url;                    // http://host:port; a proxy is never called over TLS
  std::string authorization;  // value of Proxy-Authorization; empty for none
};

// Loopback addresses and localhost never go through a proxy. `no_proxy` lists hosts (with their subdomains), addresses,
// networks ("10.0.0.0/8") and "*", each with an optional port. HTTP_PROXY in upper case is ignored, because a web
// server's child gets a client's header in it.
// Threads: value.
class ProxyRules {
 public:
  using Environment = std::function<std::string(const char* name)>;  // "" if not set

  ProxyRules() = default;  // no proxies
  // http_proxy; https_proxy or HTTPS_PROXY; no_proxy or NO_PROXY.
  explicit ProxyRules(const Environment& environment);
  static ProxyRules of_process();

  // The proxy of a call; nullopt to connect directly. Errors: invalid_argument/bad_proxy if the one for it is not a
  // usable URL, because a call that silently avoids its proxy may leak.
  Result<std::optional<Proxy>> find(const Url& url) const;

 private:
  bool is_exempt(const Url& url) const;

  std::string http_, https_;
  std::vector<std::string> exempt_;
};

}  // namespace shepherd::net
