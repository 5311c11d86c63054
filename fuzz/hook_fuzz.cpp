// Feeds a hook's input, and any other bytes. An accepted call names its session, the server accepts its events, and the
// same call at the same time gives the same events with the same ids.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "driven.h"
#include "driver/claude/hook.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace shepherd;
  std::string_view payload(reinterpret_cast<const char*>(data), size);
  auto hook = read_claude_hook(payload, kFuzzStart);
  if (!hook) {
    SHEPHERD_ASSERT(hook.error().code == ErrorCode::invalid_argument, "what is no hook is refused as such");
    return 0;
  }
  SHEPHERD_ASSERT(!hook->session_id.empty() && !hook->name.empty(), "a hook names its session and itself");
  SHEPHERD_ASSERT(hook->at_ms > 0 && hook->at_ms <= kMaxTimestampMs, "it has a time that an event can say");
  check_said(hook->events, hook->deltas);
  check_event(claude_session_joined(*hook));
  check_event(claude_goes_on(*hook));
  auto again = read_claude_hook(payload, kFuzzStart);
  SHEPHERD_ASSERT(again && said_as_text(again->events, again->deltas) == said_as_text(hook->events, hook->deltas),
                  "a repeat is the same");
  return 0;
}
