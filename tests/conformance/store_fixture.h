// What every test of a store uses: a store, drafts to append, and its log as plain text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/draft.h"
#include "model/wire_json.h"
#include "store/event_store.h"

namespace shepherd::testing {

// One implementation under test. reopen() closes and opens the same data; it is empty if the store is not durable.
struct StoreUnderTest {
  std::unique_ptr<EventStore> store;
  std::function<void(StoreUnderTest&)> reopen;
  std::shared_ptr<void> place;  // owns what must outlive the store, e.g. its directory
};

struct StoreMaker {
  std::string name;
  std::function<StoreUnderTest()> make;
};

inline constexpr std::int64_t kNow = 1'700'000'000'000;

// Builds a batch draft by draft: Batch().log("one").log("two", 2).batch
struct Batch {
  DraftBatch batch;

  Batch& add(EventType type, std::string_view summary, std::uint64_t number = 0, std::string_view more = "") {
    Draft draft;
    draft.type = type;
    draft.producer_sequence = number;
    draft.timestamp_ms = kNow;
    draft.body_offset = static_cast<std::uint32_t>(batch.bytes.size());
    batch.bytes +=
        "\"timestamp\":\"" + format_timestamp(kNow) + "\",\"type\":\"" + std::string(name(type)) + "\",\"summary\":\"";
    draft.summary_offset = static_cast<std::uint32_t>(batch.bytes.size());
    draft.summary_size = static_cast<std::uint32_t>(summary.size());
    batch.bytes += summary;
    batch.bytes += "\",\"version\":1";
    batch.bytes += more;
    draft.body_size = static_cast<std::uint32_t>(batch.bytes.size()) - draft.body_offset;
    batch.drafts.push_back(std::move(draft));
    return *this;
  }
  Batch& log(std::string_view summary, std::uint64_t number = 0) { return add(EventType::log, summary, number); }
  Batch& status(std::string_view state, std::uint64_t number = 0) {
    return add(EventType::status, state, number, ",\"data\":{\"state\":\"" + std::string(state) + "\"}");
  }
  Batch& id(std::string_view event_id) {
    batch.drafts.back().event_id = event_id;
    return *this;
  }
  Batch& detail(std::string_view json) {
    batch.drafts.back().detail = json;
    return *this;
  }
};

inline TaskSpec spec(std::string id) {
  TaskSpec spec;
  spec.id = std::move(id);
  spec.description = "Fix the login page";
  return spec;
}

inline AppendRequest request(std::string task, const Batch& batch, Producer producer = {}) {
  return {std::move(task), std::move(producer), batch.batch, kNow, false};
}
inline Producer strict(std::string id) {
  return {ProducerKind::strict, std::move(id)};
}
inline Producer loose() {
  return {ProducerKind::loose, ""};
}

// Run single operations, each in its own transaction.
inline Result<Created> create(EventStore& store, const TaskSpec& spec, std::int64_t created_ms = kNow,
                              const std::string& key = "") {
  Result<Created> result = fail(ErrorCode::internal, "not_run", "");
  auto commit = store.write([&](WriteTxn& txn) { result = txn.create_task(spec, created_ms, key); });
  if (!commit) return fail(commit.error());
  return result;
}
inline Result<Appended> append(EventStore& store, const AppendRequest& request) {
  Result<Appended> result = fail(ErrorCode::internal, "not_run", "");
  auto commit = store.write([&](WriteTxn& txn) { result = txn.append(request); });
  if (!commit) return fail(commit.error());
  return result;
}
inline Result<Appended> append(EventStore& store, const std::string& task, const Batch& batch,
                               const Producer& producer = {}) {
  return append(store, request(task, batch, producer));
}
inline Result<void> erase(EventStore& store, const std::string& task) {
  Result<void> result;
  auto commit = store.write([&](WriteTxn& txn) { result = txn.delete_task(task); });
  if (!commit) return fail(commit.error());
  return result;
}
// All of them, a few rows at a time.
inline void erase_leftovers(EventStore& store) {
  for (Result<bool> more = true; more && *more;) {
    auto commit = store.write([&](WriteTxn& txn) { more = txn.erase_leftovers(3); });
    ASSERT_TRUE(commit && more);
  }
}
inline Result<void> drop(EventStore& store, const std::string& task, std::uint64_t through) {
  Result<void> result;
  auto commit = store.write([&](WriteTxn& txn) { result = txn.drop_through(task, through); });
  if (!commit) return fail(commit.error());
  return result;
}

// All events of a log as text, read page by page; checks every number.
inline std::vector<std::string> log_of(const EventStore& store, const std::string& task, std::uint64_t after = 0,
                                       ReadLimit limit = {}) {
  std::vector<std::string> events;
  for (;;) {
    auto page = store.read(task, after, limit);
    EXPECT_TRUE(page) << page.error().message;
    if (!page || page->batches.empty()) return events;
    for (const BatchPtr& stored : page->batches) {
      EXPECT_EQ(stored->task, task);
      for (std::size_t i = 0; i < stored->size(); ++i) {
        std::uint64_t sequence = stored->first + i;
        if (sequence <= after) continue;
        auto event = parse_event(stored->event(i));
        EXPECT_TRUE(event && event->sequence == sequence) << stored->event(i);
        events.emplace_back(stored->event(i));
        after = sequence;
      }
    }
  }
}
inline std::vector<std::string> summaries(const EventStore& store, const std::string& task, std::uint64_t after = 0,
                                          ReadLimit limit = {}) {
  std::vector<std::string> found;
  for (const std::string& event : log_of(store, task, after, limit)) found.push_back(parse_event(event)->summary);
  return found;
}

inline std::string reason(const Error& error) {
  return std::string(name(error.code)) + "/" + error.reason;
}
template <class T>
std::string reason(const Result<T>& result) {
  return result ? "ok" : reason(result.error());
}
inline std::string field(const Error& error, std::string_view name) {
  for (const ErrorField& field : error.fields) {
    if (field.name != name) continue;
    if (auto* number = std::get_if<std::int64_t>(&field.value)) return std::to_string(*number);
    return std::get<std::string>(field.value);
  }
  return "";
}

}  // namespace shepherd::testing
