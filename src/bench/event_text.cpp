#include "bench/event_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/assert.h"
#include "base/random.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kTexts = 61;
constexpr std::uint64_t kSeed = 20260218;  // the same events in every run, so that runs are comparable

constexpr std::array<std::string_view, 32> kWords{
    "go",     "test",  "build",  "src",     "auth",   "handler", "server", "token",  "error",  "return", "config",
    "select", "value", "module", "package", "struct", "merge",   "branch", "commit", "deploy", "client", "request",
    "parse",  "json",  "cache",  "index",   "file",   "read",    "write",  "queue",  "worker", "status"};

std::string words(SeededRandom& random, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    if (!text.empty()) text += random.below(5) == 0 ? '/' : ' ';
    text += kWords[random.below(kWords.size())];
    if (random.below(4) == 0) text += static_cast<char>('0' + random.below(10));
  }
  text.resize(bytes);
  return text;
}

}  // namespace

EventTexts::EventTexts(std::size_t bytes) {
  bytes = std::max(bytes, kSmallestBytes);
  SeededRandom random(kSeed);
  for (std::size_t i = 0; i < kTexts; ++i) {
    std::string text = R"({"timestamp":"2026-02-18T14:00:00.123Z","type":"tool_call","summary":"Running )";
    std::size_t marker_at = text.size();
    text.append(kMarkerBytes, 'a');
    text += R"(","tool":"Bash","callID":"call-)" + words(random, 16) + R"(","input":{"command":")";
    constexpr std::string_view kEnd = R"("},"metadata":{"cwd":"src/server","turn":7}})";
    SHEPHERD_ASSERT(text.size() + kEnd.size() < bytes, "the smallest event has room for its members");
    text += words(random, bytes - text.size() - kEnd.size());
    text += kEnd;
    SHEPHERD_ASSERT(i == 0 || marker_at == marker_at_, "markers stand at one place");
    marker_at_ = marker_at;
    texts_.push_back(std::move(text));
  }
}

void EventTexts::append(std::string& out, const Marker& marker) const {
  std::size_t start = out.size();
  out += texts_[(marker.sequence + marker.channel) % kTexts];
  write_marker(out.data() + start + marker_at_, marker);
}

}  // namespace shepherd::bench
