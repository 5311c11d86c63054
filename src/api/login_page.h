// The page that signs a browser in: one form, no script, the look of the page itself.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>

#include "api/call.h"

namespace shepherd {

enum class LoginTrouble : std::uint8_t { none, bad_link, bad_token, producer };

// 200 without trouble, else 401 and what was wrong.
void send_login_page(Call call, LoginTrouble trouble);

// Where a browser that came to this machine by an address should be instead (host_check.h); empty: here.
std::string page_elsewhere(const Call& call);

}  // namespace shepherd
