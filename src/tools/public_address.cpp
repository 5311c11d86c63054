#include "tools/public_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace shepherd {
namespace {

struct Network4 {
  std::uint32_t base;
  int bits;
};

// IANA's registry of special-purpose addresses, and the metadata services that clouds have put elsewhere.
constexpr std::array<Network4, 17> kSpecial4{{
    {0x00000000, 8},   // this network
    {0x0a000000, 8},   // private
    {0x64400000, 10},  // shared by a provider's customers; 100.100.100.200 is Alibaba's metadata service
    {0x7f000000, 8},   // loopback
    {0xa83f8110, 32},  // 168.63.129.16: Azure's metadata service
    {0xa9fe0000, 16},  // link-local, with most metadata services
    {0xac100000, 12},  // private
    {0xc0000000, 24},  // protocols; 192.0.0.192 is Oracle's metadata service
    {0xc0000200, 24},  // documentation
    {0xc01fc400, 24},  // AS112
    {0xc034c100, 24},  // AMT
    {0xc0586300, 24},  // 6to4 relays
    {0xc0a80000, 16},  // private
    {0xc0af3000, 24},  // AS112
    {0xc6120000, 15},  // benchmarks
    {0xc6336400, 24},  // documentation
    {0xcb007100, 24},  // documentation
}};

bool is_public_v4(std::uint32_t address) {
  if (address >= 0xe0000000) return false;  // multicast, reserved, broadcast
  return std::ranges::none_of(kSpecial4, [&](const Network4& net) {
    std::uint32_t mask = ~std::uint32_t{0} << (32 - net.bits);
    return (address & mask) == net.base;
  });
}

using Address6 = std::array<std::uint8_t, 16>;

bool is_public_v6(const Address6& address) {
  auto begins = [&](auto... bytes) {
    std::array<std::uint8_t, sizeof...(bytes)> prefix{static_cast<std::uint8_t>(bytes)...};
    return std::equal(prefix.begin(), prefix.end(), address.begin());
  };
  auto v4_at = [&](std::size_t at) {
    std::uint32_t inner = 0;
    for (std::size_t i = 0; i < 4; ++i) inner = inner << 8U | address[at + i];
    return inner;
  };
  if (begins(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)) return is_public_v4(v4_at(12));     // IPv4 inside
  if (begins(0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0)) return is_public_v4(v4_at(12));  // NAT64
  if ((address[0] & 0xe0U) != 0x20) return false;                                           // only 2000::/3 is public
  if (begins(0x20, 0x02)) return is_public_v4(v4_at(2));                                    // 6to4
  if (begins(0x20, 0x01) && address[2] < 0x02) return false;  // 2001::/23: Teredo, benchmarks, ORCHID
  if (begins(0x20, 0x01, 0x0d, 0xb8)) return false;           // documentation
  return !(begins(0x3f, 0xff) && (address[2] & 0xf0U) == 0);  // documentation
}

}  // namespace

bool is_public_address(std::string_view address) {
  std::string text(address.substr(0, address.find('%')));  // without the interface
  in_addr four{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return is_public_v4(ntohl(four.s_addr));
  Address6 six{};
  return ::inet_pton(AF_INET6, text.c_str(), six.data()) == 1 && is_public_v6(six);
}

}  // namespace shepherd
