// A journal over a memory store that the test steps, with a manual clock, for tests of its readers and writers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/manual_executor.h"
#include "journal/journal.h"
#include "model/wire_json.h"
#include "store/memory/memory_store.h"

namespace shepherd {

// A queue that the test runs, until `at_once`: stop() waits for what it posts, and its thread is then the only one that
// could run it.
// Threads: caller.
class StoppableExecutor final : public Executor {
 public:
  void post(Work work) override {
    if (at_once) return work();
    queue.post(std::move(work));
  }
  ManualExecutor queue;
  bool at_once = false;
};

class JournalFixture : public testing::Test {
 protected:
  void settle() {
    for (bool busy = true; busy;) {
      busy = journal_.step();
      busy = workers_.run_one() || busy;
      busy = io_.queue.run_one() || busy;
    }
  }
  // Calls part.stop(), which waits for the executor.
  template <class Part>
  void stop_now(Part& part) {
    settle();
    io_.at_once = true;
    part.stop();
    io_.at_once = false;
    settle();
  }
  Result<Appended> append(const std::string& task, const std::string& event, bool by_server = false,
                          std::optional<LeaseFence> fence = {}) {
    Intake intake;
    intake.now_ms = clock_.wall_ms();
    intake.allow_reserved = by_server;
    auto drafts = decode_events(event, Framing::json, intake);
    EXPECT_TRUE(drafts) << drafts.error().message;
    std::optional<Result<Appended>> answer;
    journal_.append({task, {}, std::move(*drafts), clock_.wall_ms(), by_server, fence},
                    [&](Result<Appended> appended) { answer = std::move(appended); });
    settle();
    return std::move(*answer);
  }

  ManualClock clock_;
  MetricRegistry metrics_;
  Fault fault_ = Fault::none;
  std::uint64_t writes_ = 0;  // transactions so far
  MemoryStore store_{[this] {
    ++writes_;
    return fault_;
  }};
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  ManualExecutor workers_;
  StoppableExecutor io_;
  Journal journal_{store_, hub_, bus_, workers_, clock_, metrics_, false};
};

}  // namespace shepherd
