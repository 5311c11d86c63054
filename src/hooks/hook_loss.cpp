#include "hooks/hook_loss.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "driver/claude/hook.h"
#include "hooks/limits.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

struct Loss {
  std::string session, timestamp, cwd;  // of the newest lost call
  std::uint64_t calls = 0, elsewhere = 0;
};

Loss read_loss(std::string_view line) {
  return {text_member(line, "session_id"), text_member(line, "timestamp"), text_member(line, "cwd"),
          count_value(find_member(line, "lost")).value_or(0), count_value(find_member(line, "elsewhere")).value_or(0)};
}

void write_loss(std::string& out, const Loss& loss) {
  write_object(out, [&](JsonObject& object) {
    object.text("session_id", loss.session);
    object.text("hook_event_name", kHooksLost);
    object.text("timestamp", loss.timestamp);
    object.text_unless_empty("cwd", loss.cwd);
    object.number("lost", loss.calls);
    if (loss.elsewhere > 0) object.number("elsewhere", loss.elsewhere);
  });
  out.push_back('\n');
}

}  // namespace

std::string with_lost_call(std::string_view lines, std::string_view call) {
  std::vector<Loss> losses;
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (!line.empty()) losses.push_back(read_loss(line));
  }
  Loss lost = read_loss(call);
  auto known = std::ranges::find(losses, lost.session, &Loss::session);
  if (known != losses.end()) {
    lost.calls = known->calls;
    lost.elsewhere = known->elsewhere;
    *known = lost;
    ++known->calls;
  } else if (losses.size() < kMaxLostSessions) {
    lost.calls = 1;
    losses.push_back(lost);
  } else {
    ++losses.back().elsewhere;
  }
  std::string out;
  for (const Loss& loss : losses) write_loss(out, loss);
  return out;
}

}  // namespace shepherd
