// For tests: a memory store with tasks and events, set up in few lines.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "store/memory/memory_store.h"

namespace shepherd {

inline DraftBatch log_drafts(const std::vector<std::string>& summaries, EventType type = EventType::log,
                             const std::string& more = "") {
  DraftBatch batch;
  for (const auto& summary : summaries) {
    Draft draft;
    draft.type = type;
    draft.body_offset = static_cast<std::uint32_t>(batch.bytes.size());
    batch.bytes +=
        "\"timestamp\":\"2026-02-18T14:00:00.000Z\",\"type\":\"" + std::string(name(type)) + "\",\"summary\":\"";
    draft.summary_offset = static_cast<std::uint32_t>(batch.bytes.size());
    draft.summary_size = static_cast<std::uint32_t>(summary.size());
    batch.bytes += summary + "\"" + more + ",\"version\":1";
    draft.body_size = static_cast<std::uint32_t>(batch.bytes.size()) - draft.body_offset;
    batch.drafts.push_back(std::move(draft));
  }
  return batch;
}

// Threads: caller.
class TestLog {
 public:
  Fault fault = Fault::none;  // applies to transactions from now on
  MemoryStore store{[this] { return fault; }};
  ManualClock clock;

  void make_task(const std::string& id) {
    write([&](WriteTxn& txn) {
      TaskSpec spec;
      spec.id = id;
      ASSERT_TRUE(txn.create_task(spec, clock.wall_ms(), "").has_value());
    });
  }
  // Makes one commit, and therefore one batch.
  void append(const std::string& task, DraftBatch drafts) {
    write([&](WriteTxn& txn) {
      auto appended = txn.append({task, {}, std::move(drafts), clock.wall_ms(), false});
      ASSERT_TRUE(appended.has_value()) << appended.error().message;
    });
  }
  void append(const std::string& task, const std::string& summary) { append(task, log_drafts({summary})); }
  void end(const std::string& task) {
    append(task, log_drafts({"done"}, EventType::status, R"(,"data":{"state":"completed"})"));
  }
  void drop(const std::string& task, std::uint64_t through) {
    write([&](WriteTxn& txn) { ASSERT_TRUE(txn.drop_through(task, through).has_value()); });
  }
  void write(const std::function<void(WriteTxn&)>& operations) { ASSERT_TRUE(store.write(operations).has_value()); }
  std::uint64_t first(const std::string& task) { return store.read(task, 0, {1, 1})->first; }
};

}  // namespace shepherd
