#include "mcp/server_log.h"

#include <algorithm>

#include "base/log.h"
#include "mcp/limits.h"

namespace shepherd {
namespace {

// Other programs' output goes to terminals, too.
std::string harmless(std::string_view line) {
  std::string text(line.substr(0, kMaxMcpLogLineBytes));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

void McpServerLog::add(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t end = bytes.find('\n');
    std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(std::min(bytes.size(), piece.size() + 1));
    if (!skipping_) held_.append(piece.substr(0, kMaxMcpLogLineBytes - std::min(kMaxMcpLogLineBytes, held_.size())));
    bool whole = end != std::string_view::npos;
    bool full = held_.size() >= kMaxMcpLogLineBytes;
    if (!skipping_ && (whole || full)) {
      std::string text = harmless(held_);
      held_.clear();
      if (!text.empty()) {
        last_ = text;
        write(text);
      }
    }
    skipping_ = !whole && (skipping_ || full);
  }
}

void McpServerLog::note(std::string_view line) {
  write(harmless(line));
}

void McpServerLog::write(std::string_view line) {
  auto now = std::chrono::steady_clock::now();
  if (now - window_ > kMcpFloodWindow) {
    if (left_out_ > 0) log_warn("mcp {}: {} more lines were left out", server_, left_out_);
    window_ = now;
    lines_ = left_out_ = 0;
  }
  if (lines_ >= kMcpLogLines) {
    ++left_out_;
    return;
  }
  ++lines_;
  log_info("mcp {}: {}", server_, line);
}

}  // namespace shepherd
