// The tool that fetches an address. Threads: any; the tool is the loop's.
#pragma once

#include <memory>

#include "base/executor.h"
#include "net/event_loop.h"
#include "tools/built_in_tool.h"

namespace shepherd {

// Everything referred to outlives the tool.
struct FetchUrlParts {
  net::EventLoop& loop;
  Executor& blocking;  // turns pages into text
  bool private_addresses = false;
};

// Checks every address that a name stands for before it connects, again for each redirect. Follows redirects on the
// same host only: a rule allows a host, and another one is another call.
std::unique_ptr<BuiltInTool> make_fetch_url(FetchUrlParts parts);

}  // namespace shepherd
