#include "base/clock.h"

#include <array>
#include <chrono>
#include <ctime>

#include "base/log.h"
#include "base/wall_filter.h"

namespace shepherd {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;

// Smaller steps back are ordinary clock discipline and not worth a warning.
constexpr std::int64_t kNotableJumpMs = 1000;
// Steps back larger than this are followed immediately, because holding the time would freeze it for as long.
constexpr std::int64_t kLongestHoldMs = 600'000;

void put_digits(char* at, std::int64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// Reads exactly `digits` digits at `text[at]`; -1 when there are fewer.
int take_digits(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

Error bad_timestamp(std::string_view text) {
  return Error{ErrorCode::invalid_argument,
               "bad_timestamp",
               "not an RFC 3339 time such as 2026-02-18T14:00:00.123Z: " + std::string(text.substr(0, 64)),
               {}};
}

}  // namespace

std::int64_t SystemClock::wall_ms() const {
  using namespace std::chrono;
  static WallFilter filter;  // one per process, because the machine has one clock
  timespec boot{};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  std::int64_t boot_ms = std::int64_t{boot.tv_sec} * 1'000 + boot.tv_nsec / 1'000'000;
  return never_back(filter.read(duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count(), boot_ms));
}

std::int64_t SystemClock::never_back(std::int64_t reading_ms) const {
  std::int64_t newest = newest_ms_.load(std::memory_order_relaxed);
  while (reading_ms > newest) {
    if (newest_ms_.compare_exchange_weak(newest, reading_ms, std::memory_order_relaxed)) return reading_ms;
  }
  if (newest - reading_ms >= kLongestHoldMs) {
    newest_ms_.compare_exchange_strong(newest, reading_ms, std::memory_order_relaxed);
    return reading_ms;  // the clock was set back permanently; continue from its new time
  }
  if (newest - reading_ms >= kNotableJumpMs) {
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true)) {
      log_warn("the machine's clock went back by {} ms; receivedAt stands still until it has caught up",
               newest - reading_ms);
    }
  }
  return newest;
}

std::int64_t SystemClock::steady_ms() const {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

void append_timestamp(std::string& out, std::int64_t wall_ms) {
  using namespace std::chrono;
  std::int64_t day = wall_ms / kMsPerDay;
  std::int64_t in_day = wall_ms % kMsPerDay;
  if (in_day < 0) {
    in_day += kMsPerDay;
    --day;
  }
  year_month_day date{sys_days{days{day}}};
  std::array<char, 24> text{'0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 'T', '0',
                            '0', ':', '0', '0', ':', '0', '0', '.', '0', '0', '0', 'Z'};
  put_digits(&text[0], static_cast<int>(date.year()), 4);
  put_digits(&text[5], static_cast<unsigned>(date.month()), 2);
  put_digits(&text[8], static_cast<unsigned>(date.day()), 2);
  put_digits(&text[11], in_day / 3'600'000, 2);
  put_digits(&text[14], in_day / 60'000 % 60, 2);
  put_digits(&text[17], in_day / 1000 % 60, 2);
  put_digits(&text[20], in_day % 1000, 3);
  out.append(text.data(), text.size());
}

std::string format_timestamp(std::int64_t wall_ms) {
  std::string out;
  append_timestamp(out, wall_ms);
  return out;
}

Result<std::int64_t> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  int year_number = take_digits(text, 0, 4);
  int month_number = take_digits(text, 5, 2);
  int day_number = take_digits(text, 8, 2);
  int hour = take_digits(text, 11, 2);
  int minute = take_digits(text, 14, 2);
  int second = take_digits(text, 17, 2);
  if (year_number < 0 || month_number < 0 || day_number < 0 || hour < 0 || minute < 0 || second < 0) {
    return fail(bad_timestamp(text));
  }
  bool separators = text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == 't' || text[10] == ' ') &&
                    text[13] == ':' && text[16] == ':';
  year_month_day date{year{year_number}, month{static_cast<unsigned>(month_number)},
                      day{static_cast<unsigned>(day_number)}};
  // Second 60 is a leap second; it counts as the next minute's first.
  if (!separators || !date.ok() || hour > 23 || minute > 59 || second > 60) return fail(bad_timestamp(text));

  std::size_t at = 19;
  std::int64_t fraction_ms = 0;
  if (at < text.size() && text[at] == '.') {
    std::size_t begin = ++at;
    std::int64_t scale = 100;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      fraction_ms += (text[at] - '0') * scale;
      scale /= 10;
      ++at;
    }
    if (at == begin) return fail(bad_timestamp(text));
  }
  std::int64_t offset_minutes = 0;
  if (at < text.size() && (text[at] == 'Z' || text[at] == 'z')) {
    ++at;
  } else if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    int offset_hour = take_digits(text, at + 1, 2);
    int offset_minute = take_digits(text, at + 4, 2);
    if (offset_hour < 0 || offset_hour > 23 || offset_minute < 0 || offset_minute > 59 || text[at + 3] != ':') {
      return fail(bad_timestamp(text));
    }
    offset_minutes = (offset_hour * 60 + offset_minute) * (text[at] == '-' ? -1 : 1);
    at += 6;
  } else {
    return fail(bad_timestamp(text));
  }
  if (at != text.size()) return fail(bad_timestamp(text));
  std::int64_t days_since = sys_days{date}.time_since_epoch().count();
  return days_since * kMsPerDay + hour * 3'600'000LL + minute * 60'000LL + second * 1000LL + fraction_ms -
         offset_minutes * 60'000LL;
}

}  // namespace shepherd
