// The page that signs a browser in: one form, no script, in the page's style.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>

#include "api/call.h"

namespace shepherd {

enum class LoginTrouble : std::uint8_t { none, bad_link, bad_token, producer };

// Sends 200 without trouble, otherwise 401 and the reason.
void send_login_page(Call call, LoginTrouble trouble);

// The address to which a browser that used this machine's address is redirected (host_check.h); empty for none.
std::string page_elsewhere(const Call& call);

}  // namespace shepherd
