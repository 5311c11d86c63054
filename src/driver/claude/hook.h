// What a hook of Claude Code says: one call of a hook in, the events it becomes out.
//
// Hooks report a session that a person started, in its own terminal; they carry nothing to the agent.
// Event ids are those of the driver (tool_use_id and kind), so a step that is reported twice is one event. What the
// agent gives no id for is named by its time.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/driver.h"

namespace shepherd {

// Not one of the agent's: with it, our own sender says how many calls of the session it could not keep (`lost`, and of
// other sessions `elsewhere`).
inline constexpr std::string_view kHooksLost = "HooksLost";

struct ClaudeHook {
  std::string session_id;
  std::string name;  // of the hook: "PreToolUse"
  std::string cwd;
  std::string prompt;  // what the person typed (UserPromptSubmit)
  std::int64_t at_ms = 0;
  bool opens = false;  // the session begins to work: if its task has ended, it goes on in another one
  bool ends = false;   // the session is over
  bool works = false;  // the agent does something: it no longer waits for a person
  std::vector<DriverEvent> events;
  std::vector<TextDelta> deltas;
};

// `payload` is the object that a hook gets on standard input or by POST; with `timestamp` (RFC 3339) it says when,
// otherwise it is now; `parent_tool_use_id` says inside which call a sub-agent works. A hook that is not known becomes
// a `log` event. invalid_argument/bad_hook when it is not an object with session_id and hook_event_name.
Result<ClaudeHook> read_claude_hook(std::string_view payload, std::int64_t now_ms);

// Events that the task's own past makes necessary, which one call of a hook cannot know.
DriverEvent claude_session_joined(const ClaudeHook& hook);  // session_start of a session that was under way already
DriverEvent claude_goes_on(const ClaudeHook& hook);         // status running: whatever it waited for, it has

}  // namespace shepherd
