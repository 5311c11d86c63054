// Leases: who has what, and until when. A runner has a task, a runner is there, a program takes a task's commands. A
// lease is over when the service clock (steering/service_clock.h) reaches its end, unless it was renewed. Rows of the
// store, so that a decision by a lease reads it in the transaction that acts on it.
// Threads: value.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace shepherd {

// The numbers are stored.
enum class LeaseKind : std::uint8_t {
  task = 1,    // name: the task; holder: its runner; epoch: WriteTxn::next_epoch()
  runner = 2,  // name: the runner, which is there; note: what it said about itself
  taker = 3,  // name: the task whose commands a program takes without a lease on it, "" for all; holder: the connection
};
constexpr std::string_view name(LeaseKind kind) {
  switch (kind) {
    case LeaseKind::task:
      return "task";
    case LeaseKind::runner:
      return "runner";
    case LeaseKind::taker:
      return "taker";
  }
  return "";
}

struct LeaseKey {
  LeaseKind kind = LeaseKind::task;
  std::string name;
  std::string holder;  // several may hold the same name; for tasks the claim sees to it that one does

  friend auto operator<=>(const LeaseKey&, const LeaseKey&) = default;
};

struct Lease {
  LeaseKey key;
  std::uint64_t epoch = 0;
  std::int64_t until_ms = 0;  // on the service clock
  bool heard = false;         // its holder renewed it at least once
  std::string note;

  friend bool operator==(const Lease&, const Lease&) = default;
};

struct LeaseRenewal {
  LeaseKey key;
  std::uint64_t epoch = 0;
  std::int64_t until_ms = 0;  // an end that is later already stays
  bool heard = true;          // false if the server itself prolongs it
};

}  // namespace shepherd
