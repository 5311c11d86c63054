#include "outbound/callback_target.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "outbound/limits.h"

namespace shepherd {
namespace {

std::unexpected<Error> bad_target(std::string why) {
  return fail(Error{ErrorCode::invalid_argument, "bad_callback_url", "\"callbackURL\" " + std::move(why), {}}.with(
      "member", std::string("callbackURL")));
}

bool is_refused_v4(std::uint32_t address) {
  struct Net {
    std::uint32_t base, mask;
  };
  constexpr std::array<Net, 6> kRefused{{
      {0x00000000, 0xff000000},  // "this network"
      {0xa9fe0000, 0xffff0000},  // link-local, including most metadata services
      {0x646464c8, 0xffffffff},  // 100.100.100.200: Alibaba's metadata service
      {0xa83f8110, 0xffffffff},  // 168.63.129.16: Azure's
      {0xc00000c0, 0xffffffff},  // 192.0.0.192: Oracle's
      {0xe0000000, 0xe0000000},  // multicast, reserved, broadcast
  }};
  return std::ranges::any_of(kRefused, [&](const Net& net) { return (address & net.mask) == net.base; });
}

bool is_refused_v6(const std::array<std::uint8_t, 16>& address) {
  auto begins = [&](auto... bytes) {
    std::array<std::uint8_t, sizeof...(bytes)> prefix{static_cast<std::uint8_t>(bytes)...};
    return std::equal(prefix.begin(), prefix.end(), address.begin());
  };
  auto v4_at = [&](std::size_t at) {
    std::uint32_t inner = 0;
    for (std::size_t i = 0; i < 4; ++i) inner = inner << 8U | address[at + i];
    return inner;
  };
  bool zeros = begins(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  if (zeros && ((address[10] == 0xff && address[11] == 0xff) || (address[10] == 0 && address[11] == 0))) {
    bool loopback = v4_at(12) == 1 && address[10] == 0;
    return !loopback && is_refused_v4(v4_at(12));  // ::ffff:a.b.c.d, ::a.b.c.d, and :: itself
  }
  if (begins(0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0)) return is_refused_v4(v4_at(12));  // NAT64
  if (begins(0, 0x64, 0xff, 0x9b, 0, 1)) return true;  // NAT64 of a local network, which decides where the IPv4 part is
  if (begins(0x20, 0x02)) return is_refused_v4(v4_at(2));     // 6to4
  if (begins(0xfd, 0x00, 0x0e, 0xc2)) return true;            // AWS's metadata service
  if (address[0] == 0xff) return true;                        // multicast
  return address[0] == 0xfe && (address[1] & 0xc0U) == 0x80;  // link-local
}

}  // namespace

bool is_refused_address(std::string_view address) {
  std::string text(address.substr(0, address.find('%')));  // without the interface
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) return is_refused_v4(ntohl(four.s_addr));
  std::array<std::uint8_t, 16> six{};
  return inet_pton(AF_INET6, text.c_str(), six.data()) == 1 && is_refused_v6(six);
}

Result<net::Url> callback_target(std::string_view url) {
  if (url.size() > kMaxUrlBytes) return bad_target("is longer than " + std::to_string(kMaxUrlBytes) + " bytes.");
  if (!url.starts_with("http://") && !url.starts_with("https://")) return bad_target("must be an http or https URL.");
  auto target = net::parse_url(url);
  if (!target) return bad_target("cannot be used: " + target.error().message + ".");
  if (is_refused_address(target->host)) {
    return bad_target("names a link-local or metadata address; those are never called.");
  }
  return target;
}

}  // namespace shepherd
