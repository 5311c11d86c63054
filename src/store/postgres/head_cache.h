// The states of tasks that this replica's writer used recently. Each is as of a version of the task's row; the writer
// uses it only if the row, which it locks first, still has that version.
// Threads: caller (the writer).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "store/append_plan.h"
#include "store/postgres/limits.h"

namespace shepherd {

struct KeptHead {
  std::int64_t key = 0;
  std::int64_t version = 0;
  std::int64_t created_ms = 0;
  TaskInfo info;
  TaskHead head;

  TaskRow row() const { return {info, head.state, created_ms}; }
};

class HeadCache {
 public:
  // Takes the head out. A transaction that fails thus leaves nothing uncertain behind.
  std::optional<KeptHead> take(const std::string& task) {
    auto known = heads_.find(task);
    if (known == heads_.end()) return std::nullopt;
    KeptHead head = std::move(known->second.head);
    heads_.erase(known);
    return head;
  }
  void keep(const std::string& task, KeptHead head) {
    if (heads_.size() >= kPostgresHeads) drop_old();
    heads_[task] = {std::move(head), ++uses_};
  }

 private:
  struct Kept {
    KeptHead head;
    std::uint64_t used = 0;
  };
  // Each keep() counts as a use, so the older half has smaller numbers than half of the range.
  void drop_old() {
    std::uint64_t before = uses_ - kPostgresHeads / 2;
    std::erase_if(heads_, [&](const auto& kept) { return kept.second.used <= before; });
  }

  std::unordered_map<std::string, Kept> heads_;
  std::uint64_t uses_ = 0;
};

}  // namespace shepherd
