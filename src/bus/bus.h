// The bus carries hints between replicas that a log has grown or something else has changed. It may lose, repeat and
// reorder them; the store stays the truth.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace shepherd {

struct Hint {
  std::string task;                 // whose log has grown; empty: only something else has changed
  std::uint64_t last = 0;           // the log's newest sequence
  std::uint64_t last_position = 0;  // the newest global position
  std::uint64_t change = 0;         // the newest change (store/change.h)
};

// Threads: any. The handler is called from any thread and must not block.
class Bus {
 public:
  virtual ~Bus() = default;
  virtual void publish(const Hint& hint) = 0;
  virtual void subscribe(std::function<void(const Hint&)> handler) = 0;
  // False when no other process can write to the store.
  virtual bool connects_replicas() const = 0;
};

// For a single process, which has no replica to notify.
class NoBus final : public Bus {
 public:
  void publish(const Hint&) override {}
  void subscribe(std::function<void(const Hint&)>) override {}
  bool connects_replicas() const override { return false; }
};

}  // namespace shepherd
