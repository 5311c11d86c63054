#include "runner/host_terminal.h"

#include <algorithm>
#include <utility>

#include "runner/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

constexpr std::size_t kLongestCharacter = 4;

bool is_rest_of_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Of a character that begins with this byte.
std::size_t character_bytes(char byte) {
  auto first = static_cast<unsigned char>(byte);
  return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
}

// The bytes at the end that are the beginning of a character.
std::size_t unfinished(std::string_view bytes) {
  for (std::size_t back = 1; back < kLongestCharacter && back <= bytes.size(); ++back) {
    char byte = bytes[bytes.size() - back];
    if (is_rest_of_character(byte)) continue;
    return character_bytes(byte) > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string terminal_text(std::string_view bytes, std::size_t most) {
  bytes.remove_suffix(unfinished(bytes));
  std::string text = valid_text(last_bytes(bytes, most));
  return std::string(last_bytes(text, most));  // U+FFFD is longer than the byte that it stands for
}

HostTerminal::HostTerminal(std::size_t keep_bytes, std::function<void()> over)
    : keep_bytes_(keep_bytes), over_(std::move(over)), output_(keep_bytes + kLongestCharacter) {}

Result<void> HostTerminal::start(const AgentSpec& spec, const Clock& clock) {
  Result<std::unique_ptr<AgentProcess>> started = AgentProcess::start(spec, *this, clock);
  if (!started) return fail(std::move(started.error()));
  process_ = *std::move(started);
  return {};
}

StopPlan HostTerminal::soon() {
  StopPlan plan;
  plan.interrupt_wait = plan.close_wait = std::chrono::milliseconds(0);
  plan.terminate_wait = kTerminalStopWait;
  return plan;
}

TerminalState HostTerminal::look() const {
  MutexLock lock(mutex_);
  TerminalState state;
  state.output = terminal_text(output_.bytes(), keep_bytes_);
  state.cut = output_.total() > output_.bytes().size() || output_.bytes().size() > keep_bytes_;
  state.running = !end_.has_value();
  if (!end_) return state;
  if (end_->exit.signal != 0) {
    state.signal = end_->exit.signal;
  } else {
    state.code = end_->exit.code;
  }
  return state;
}

const AgentEnd& HostTerminal::release() {
  process_.reset();
  MutexLock lock(mutex_);
  return *end_;
}

void HostTerminal::on_output(AgentStream /*stream*/, std::string_view bytes) {
  MutexLock lock(mutex_);
  output_.add(bytes);
}

void HostTerminal::on_end(const AgentEnd& end) {
  {
    MutexLock lock(mutex_);
    end_ = end;
  }
  over_();
}

}  // namespace shepherd
