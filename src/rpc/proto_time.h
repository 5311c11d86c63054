// Converts milliseconds since 1970 to protobuf's Timestamp.
// Threads: value.
#pragma once

#include <google/protobuf/timestamp.pb.h>

#include <cstdint>

namespace shepherd {

inline void set_time(google::protobuf::Timestamp& into, std::int64_t wall_ms) {
  into.set_seconds(wall_ms / 1000);
  into.set_nanos(static_cast<std::int32_t>(wall_ms % 1000) * 1'000'000);
}

inline std::int64_t time_ms(const google::protobuf::Timestamp& time) {
  return time.seconds() * 1000 + time.nanos() / 1'000'000;
}

}  // namespace shepherd
