// What a task cost, as short text. Threads: any.
#pragma once

#include <string>

namespace shepherd {

// "$0.25"; "unpriced" if no cost is known of what was used; "$0.25+" if more was used, whose cost is not known; empty
// if nothing was reported.
std::string cost_text(double usd, bool unpriced);

}  // namespace shepherd
