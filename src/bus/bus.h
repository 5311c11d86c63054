// The bus: hints between replicas that a log has grown. May lose, repeat and reorder; the store stays the truth.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace shepherd {

struct Hint {
  std::string task;
  std::uint64_t last = 0;           // the log's newest sequence
  std::uint64_t last_position = 0;  // the newest global position
};

// Threads: any. The handler is called from any thread and must not block.
class Bus {
 public:
  virtual ~Bus() = default;
  virtual void publish(const Hint& hint) = 0;
  virtual void subscribe(std::function<void(const Hint&)> handler) = 0;
  // False when there is nobody else who could write to the store.
  virtual bool connects_replicas() const = 0;
};

// One process, nobody to tell.
class NoBus final : public Bus {
 public:
  void publish(const Hint&) override {}
  void subscribe(std::function<void(const Hint&)>) override {}
  bool connects_replicas() const override { return false; }
};

}  // namespace shepherd
