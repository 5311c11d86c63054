#include "shepherd/agent/trace_context.h"

#include <algorithm>
#include <random>

#include "random_hex.h"

namespace shepherd::agent {
namespace {

bool is_id(std::string_view text) {
  auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return std::all_of(text.begin(), text.end(), is_digit) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

std::string random_hex(std::size_t digits) {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seeds{device(), device(), device(), device()};
    return std::mt19937_64(seeds);
  }();
  std::string text(digits, '0');
  while (text.find_first_not_of('0') == std::string::npos) {
    for (char& c : text) c = "0123456789abcdef"[generator() & 15];
  }
  return text;
}

TraceContext TraceContext::fresh() {
  return {.trace_id = random_hex(32), .span_id = random_hex(16)};
}

// version "-" trace id "-" parent span "-" flags. Later versions may append more; version ff does not exist.
std::optional<TraceContext> TraceContext::continued(std::string_view traceparent) {
  constexpr std::size_t kLength = 55;
  if (traceparent.size() < kLength || traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-')
    return {};
  std::string_view version = traceparent.substr(0, 2);
  if (version == "ff" || (version == "00" && traceparent.size() != kLength)) return {};
  if (traceparent.size() > kLength && traceparent[kLength] != '-') return {};
  std::string_view trace_id = traceparent.substr(3, 32);
  if (!is_id(trace_id) || !is_id(traceparent.substr(36, 16))) return {};
  return TraceContext{.trace_id = std::string(trace_id), .span_id = random_hex(16)};
}

}  // namespace shepherd::agent
