// Compares a store with a naive model under random histories: transactions of several operations, some rolled back,
// with the store closed and opened in between, and everything readable compared. A failure prints the seed; set
// SHEPHERD_SEED to repeat it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "base/random.h"
#include "conformance/naive_store.h"
#include "conformance/store_fixture.h"

namespace shepherd::testing {

class EventStoreModel : public ::testing::TestWithParam<StoreMaker> {
 protected:
  struct GivenUp : std::runtime_error {
    GivenUp() : std::runtime_error("given up") {}
  };

  std::uint64_t below(std::uint64_t bound) { return random_->below(bound); }
  std::string some_task() { return "task-" + std::to_string(below(5)); }

  TaskSpec some_spec() {
    TaskSpec one = spec(some_task());
    if (below(8) == 0) one.description = "Another";
    return one;
  }

  AppendRequest some_append(const NaiveStore& naive) {
    AppendRequest one;
    one.task = some_task();
    one.received_ms = kNow + static_cast<std::int64_t>(below(1000));
    one.by_server = below(20) == 0;
    std::string producer = below(2) ? "p" : "q";
    switch (below(3)) {
      case 0:
        one.producer = strict(producer);
        break;
      case 1:
        one.producer = loose();
        producer.clear();
        break;
      default:
        break;
    }
    std::uint64_t number = 1;
    if (auto task = naive.tasks.find(one.task); task != naive.tasks.end()) number = task->second.high(producer) + 1;
    // Mostly the next numbers, sometimes a step back (repeats) or ahead (holes).
    if (below(3) == 0) number -= std::min(number - 1, below(6));
    if (below(8) == 0) number += below(4);
    Batch batch;
    for (std::uint64_t i = below(4) + 1; i > 0; --i, ++number) {
      std::uint64_t given =
          one.producer.kind == ProducerKind::none || (below(10) == 0 && producer.empty()) ? 0 : number;
      // The text depends on the number, so that repeats are usually equal.
      std::string text = "n" + std::to_string(given) + (below(12) == 0 ? "!" : "");
      if (below(60) == 0) {
        batch.status(below(2) ? "completed" : "failed", given);
      } else {
        batch.log(text, given);
      }
      if (given == 0 && below(2)) batch.id("id-" + std::to_string(below(30)));
      if (below(4) == 0) batch.detail("{\"raw\":" + std::to_string(below(3)) + "}");
    }
    one.drafts = std::move(batch.batch);
    return one;
  }

  void operation(WriteTxn& txn, NaiveStore& naive) {
    switch (below(12)) {
      case 0: {
        TaskSpec one = some_spec();
        std::string key = below(3) ? "" : "key-" + std::to_string(below(3));
        std::int64_t created = kNow + static_cast<std::int64_t>(below(5));
        std::string expected = naive.create(one, created, key);
        ASSERT_EQ(reason(txn.create_task(one, created, key)), expected);
        break;
      }
      case 1: {
        TaskSpec one = spec(some_task());
        one.title = "title " + std::to_string(below(5));
        one.labels = {{"k", std::to_string(below(3))}};
        auto known = naive.tasks.find(one.id);
        ASSERT_EQ(txn.update_task(one).has_value(), known != naive.tasks.end());
        if (known == naive.tasks.end()) break;
        known->second.spec.title = one.title;
        known->second.spec.labels = one.labels;
        break;
      }
      case 2: {
        std::string key = std::to_string(below(4)), value = std::to_string(below(3));
        if (value == "0") value.clear();
        ASSERT_TRUE(txn.put_record("kind", key, value));
        value.empty() ? (void)naive.records.erase(key) : (void)(naive.records[key] = value);
        break;
      }
      default: {
        AppendRequest one = some_append(naive);
        std::uint64_t added = 0;
        std::string expected = naive.append(one, added);
        auto appended = txn.append(one);
        ASSERT_EQ(reason(appended), expected);
        if (!appended) break;
        ASSERT_EQ(appended->added, added);
        ASSERT_EQ(appended->last_sequence, naive.tasks.at(one.task).events.size());
      }
    }
  }

  // Deletes and drops have their own transactions, because the model gets the batch boundaries from commits.
  void erase_something(EventStore& store, NaiveStore& naive) {
    std::string id = some_task();
    bool known = naive.tasks.contains(id);
    if (below(2)) {
      ASSERT_EQ(reason(erase(store, id)), known ? "ok" : "not_found/unknown_task");
      naive.tasks.erase(id);
    } else {
      std::uint64_t through = below(40);
      ASSERT_EQ(reason(drop(store, id, through)), known ? "ok" : "not_found/unknown_task");
      if (known) naive.drop(naive.tasks.at(id), through);
    }
  }

  void transaction(EventStore& store, NaiveStore& naive) {
    NaiveStore next = naive;
    bool give_up = below(6) == 0;
    std::uint64_t operations = below(5) + 1;
    try {
      auto commit = store.write([&](WriteTxn& txn) {
        for (std::uint64_t i = 0; i < operations && !HasFatalFailure(); ++i) operation(txn, next);
        if (give_up) throw GivenUp();
      });
      ASSERT_TRUE(commit);
      for (const BatchPtr& stored : commit->batches) {
        ASSERT_EQ(stored->position, next.position + 1);
        next.position = stored->last_position();
        next.tasks.at(stored->task).run_ends.push_back(stored->last());
      }
      naive = std::move(next);
    } catch (const GivenUp&) {
    }
  }

  void compare(EventStore& store, const NaiveStore& naive) {
    ASSERT_EQ(store.heads({""})->at(""), naive.position);
    ASSERT_EQ(*store.records("kind"), naive.records);
    std::uint64_t kept = 0;
    std::vector<std::pair<std::int64_t, std::string>> newest_first;
    for (const auto& [id, task] : naive.tasks) {
      std::uint64_t last = task.events.size();
      kept += last - task.dropped;
      newest_first.emplace_back(-task.created_ms, id);
      auto real = store.task(id);
      ASSERT_TRUE(real);
      ASSERT_EQ(real->spec.title, task.spec.title);
      ASSERT_EQ(real->spec.labels, task.spec.labels);
      ASSERT_EQ(real->created_ms, task.created_ms);
      ASSERT_EQ(real->state.last_sequence, last);
      ASSERT_EQ(real->state.first_sequence, task.dropped == last ? 0 : task.dropped + 1);
      ASSERT_EQ(is_terminal(real->state.state), task.ended);
      ASSERT_EQ(real->state.inferred_end, task.inferred);
      std::uint64_t after = below(last + 2);
      auto page = store.read(id, after, {.events = below(5) + 1, .bytes = below(2000)});
      ASSERT_TRUE(page);
      ASSERT_EQ(page->head, last);
      ASSERT_EQ(page->first, task.dropped == last ? 0 : task.dropped + 1);
      ASSERT_EQ(page->complete.empty(), !task.ended);
      if (std::max(after, task.dropped) < last) {
        ASSERT_FALSE(page->batches.empty());
        ASSERT_LE(page->batches.front()->first, std::max(after, task.dropped) + 1);
      }
      std::vector<std::string> expected(task.events.begin() + static_cast<std::ptrdiff_t>(task.dropped),
                                        task.events.end());
      ASSERT_EQ(log_of(store, id, 0, {.events = below(7) + 1}), expected);
      if (last > 0) {
        std::uint64_t sequence = below(last) + 1;
        bool has = sequence > task.dropped && !task.details[sequence - 1].empty();
        auto detail = store.detail(id, sequence);
        ASSERT_EQ(detail.value_or(""), has ? task.details[sequence - 1] : "");
      }
      std::uint64_t before = below(last + 2);
      auto below_page = store.read_before(id, before, {.events = below(5) + 1});
      ASSERT_TRUE(below_page);
      std::uint64_t wanted = before == 0 ? last : before - 1;
      if (wanted > task.dropped) {
        ASSERT_FALSE(below_page->batches.empty());
        ASSERT_GE(below_page->batches.back()->last(), wanted);
        ASSERT_LE(below_page->batches.back()->first, wanted);
      } else {
        ASSERT_TRUE(below_page->batches.empty());
      }
    }
    ASSERT_EQ(store.stats()->events, kept);
    std::sort(newest_first.begin(), newest_first.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    auto tasks = store.rows({});
    ASSERT_EQ(tasks->size(), newest_first.size());
    for (std::size_t i = 0; i < tasks->size(); ++i) ASSERT_EQ(tasks->at(i).spec.id, newest_first[i].second);
    compare_all(store, kept);
    compare_changes(store, naive);
  }

  // A follower that only hears of creations and deletions knows which tasks there are, whatever the size of its pages.
  void compare_changes(EventStore& store, const NaiveStore& naive) {
    std::set<std::string> tasks, expected;
    for (const auto& [id, task] : naive.tasks) expected.insert(id);
    Place after;
    for (;;) {
      auto page = store.changes(after, {.events = below(9) + 1});
      ASSERT_TRUE(page);
      for (const Change& change : page->changes) {
        if (change.kind == ChangeKind::task_created) {
          ASSERT_TRUE(tasks.insert(change.name).second);
        } else if (change.kind == ChangeKind::task_deleted) {
          ASSERT_EQ(tasks.erase(change.name), 1u);
        }
      }
      for (const BatchPtr& batch : page->batches) ASSERT_GT(batch->last_position(), after.position);
      if (page->through == page->newest) break;
      after = page->through;
    }
    ASSERT_EQ(tasks, expected);
  }

  void compare_all(EventStore& store, std::uint64_t kept) {
    std::uint64_t after = 0, seen = 0;
    for (;;) {
      auto page = store.read_all(after, {.events = below(20) + 1});
      ASSERT_TRUE(page);
      if (page->batches.empty()) break;
      for (const BatchPtr& stored : page->batches) {
        ASSERT_GT(stored->position, after);
        after = stored->last_position();
        seen += stored->size();
      }
    }
    ASSERT_EQ(seen, kept);
  }

  std::unique_ptr<SeededRandom> random_;
};

TEST_P(EventStoreModel, AgreesWithTheNaiveStore) {
  const char* given = std::getenv("SHEPHERD_SEED");
  std::uint64_t first_seed = given ? std::strtoull(given, nullptr, 10) : 1;
  std::uint64_t seeds = given ? 1 : 12;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    SCOPED_TRACE("SHEPHERD_SEED=" + std::to_string(seed));
    random_ = std::make_unique<SeededRandom>(seed);
    StoreUnderTest made = GetParam().make();
    NaiveStore naive;
    for (int step = 0; step < 150; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      below(15) == 0 ? erase_something(*made.store, naive) : transaction(*made.store, naive);
      if (below(4) == 0) {
        ASSERT_TRUE(made.store->write([&](WriteTxn& txn) { ASSERT_TRUE(txn.erase_leftovers(1 + below(5))); }));
      }
      if (below(25) == 0 && made.reopen) made.reopen(made);
      if (HasFatalFailure()) return;
      if (step % 5 == 0) compare(*made.store, naive);
      if (HasFatalFailure()) return;
    }
    compare(*made.store, naive);
    if (HasFatalFailure()) return;
  }
}

}  // namespace shepherd::testing
