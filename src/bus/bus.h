// The bus carries hints between replicas that a log has grown or something else has changed. It may lose, repeat and
// reorder them; the store stays the truth.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace shepherd {

struct Hint {
  std::string task;                 // whose log has grown; empty: only something else has changed
  std::uint64_t last = 0;           // the log's newest sequence
  std::uint64_t last_position = 0;  // the newest global position
  std::uint64_t change = 0;         // the newest change (store/change.h)
};

// Ends a subscription when it is destroyed. Threads: value.
class Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::move_only_function<void()> end) : end_(std::move(end)) {}
  Subscription(Subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  Subscription& operator=(Subscription&& other) noexcept {
    if (this == &other) return *this;
    if (end_) end_();
    end_ = std::exchange(other.end_, nullptr);
    return *this;
  }
  ~Subscription() {
    if (end_) end_();
  }

 private:
  std::move_only_function<void()> end_;
};

// Threads: any. The handler is called from any thread and must not block.
class Bus {
 public:
  virtual ~Bus() = default;
  virtual void publish(const Hint& hint) = 0;
  // The end of the subscription waits for calls of the handler that are under way; none comes afterwards. The bus must
  // outlive it.
  [[nodiscard]] virtual Subscription subscribe(std::function<void(const Hint&)> handler) = 0;
  // False when no other process can write to the store.
  virtual bool connects_replicas() const = 0;
};

// For a single process, which has no replica to notify.
class NoBus final : public Bus {
 public:
  void publish(const Hint&) override {}
  Subscription subscribe(std::function<void(const Hint&)>) override { return {}; }
  bool connects_replicas() const override { return false; }
};

}  // namespace shepherd
