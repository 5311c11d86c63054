#include "store/ledger.h"

#include <algorithm>
#include <cmath>

namespace shepherd {
namespace {

constexpr double kClassesPerDoubling = 4;
constexpr int kTopClass = 120;  // 2^30 ms, twelve days

}  // namespace

LedgerAmounts& LedgerAmounts::operator+=(const LedgerAmounts& other) {
  nano_usd += other.nano_usd;
  input_tokens += other.input_tokens;
  output_tokens += other.output_tokens;
  cache_read_tokens += other.cache_read_tokens;
  cache_write_tokens += other.cache_write_tokens;
  events += other.events;
  errors += other.errors;
  tool_calls += other.tool_calls;
  failed += other.failed;
  return *this;
}

int time_class(std::int64_t ms) {
  if (ms < 1) return 0;
  return std::min(1 + static_cast<int>(std::floor(kClassesPerDoubling * std::log2(static_cast<double>(ms)))),
                  kTopClass);
}

double time_of_class(int of_class) {
  return of_class <= 0 ? 0 : std::exp2((of_class - 0.5) / kClassesPerDoubling);
}

}  // namespace shepherd
