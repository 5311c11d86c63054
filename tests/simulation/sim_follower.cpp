#include "sim_follower.h"

#include <gtest/gtest.h>

#include <utility>

namespace shepherd::simulation {

void SimFollower::join(Journal& journal, Executor& workers) {
  store_ = &journal.store();
  FollowOptions options;
  options.name = name_;
  auto followed =
      journal.follow(std::move(options), workers, [this](const News& news, auto done) { take(news, std::move(done)); });
  if (!followed) return;  // the next try may succeed
  follower_ = std::move(*followed);
  if (!load()) leave();
}

void SimFollower::leave() {
  if (delayed_) std::exchange(delayed_, {})(false);
  follower_.reset();
}

void SimFollower::go_on() {
  if (delayed_) std::exchange(delayed_, {})(true);
}

bool SimFollower::load() {
  TaskFilter all;
  all.limit = 1'000;
  auto rows = store_->rows(all);
  auto records = store_->records("side");
  if (!rows || !records) return false;
  tasks_.clear();
  for (const TaskRow& row : *rows) tasks_[row.spec.id] = row.state.last_sequence;
  records_ = *std::move(records);
  return true;
}

void SimFollower::take(const News& news, std::move_only_function<void(bool)> done) {
  if (random_.below(8) == 0) return done(false);
  if (news.restarted && !load()) return done(false);
  for (const std::string& task : news.deleted) tasks_.erase(task);
  for (const RowPtr& row : news.rows) tasks_[row->spec.id] = row->state.last_sequence;
  for (const Change& change : news.changes) {
    if (change.kind != ChangeKind::record_changed || change.name != "side") continue;
    auto value = store_->record(change.name, change.key);
    if (!value) return done(false);
    records_.erase(change.key);
    if (!value->empty()) records_[change.key] = *value;
  }
  if (random_.below(4) == 0) {
    delayed_ = std::move(done);
  } else {
    done(true);
  }
}

void SimFollower::check_complete(const EventStore& store) const {
  ASSERT_TRUE(joined()) << name_;
  TaskFilter all;
  all.limit = 1'000;
  std::map<std::string, std::uint64_t> tasks;
  auto rows = store.rows(all);
  ASSERT_TRUE(rows.has_value());
  for (const TaskRow& row : *rows) tasks[row.spec.id] = row.state.last_sequence;
  EXPECT_EQ(tasks_, tasks) << name_ << " has other tasks than the store";
  EXPECT_EQ(records_, *store.records("side")) << name_ << " has other records than the store";
}

}  // namespace shepherd::simulation
