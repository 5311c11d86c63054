#include "views/tasks_between.h"

#include "store/memory/test_log.h"

namespace shepherd {
namespace {

TEST(TasksBetween, AreThoseWithAnEventInTheRange) {
  TestLog log;
  std::int64_t start = log.clock.wall_ms();
  for (const char* id : {"before", "through", "silent", "after", "empty"}) {
    log.make_task(id);
    log.clock.advance_ms(1);
  }
  log.clock.advance_ms(1'000);
  for (const char* id : {"before", "through", "silent"}) log.append(id, "early");
  log.clock.advance_ms(60'000);
  std::int64_t from = log.clock.wall_ms();
  log.append("through", "in the middle");
  log.clock.advance_ms(60'000);
  std::int64_t to = log.clock.wall_ms();
  for (const char* id : {"through", "silent", "after"}) log.append(id, "late");

  auto names = [&](TimeRange range, TaskFilter filter = {}) {
    std::string text;
    auto tasks = tasks_between(log.store, filter, range);
    EXPECT_TRUE(tasks) << tasks.error().message;
    for (const TaskRow& task : *tasks) text += task.spec.id + " ";
    return text;
  };
  EXPECT_EQ(names({from, to}), "through ") << "silent was there before and after, but not during";
  EXPECT_EQ(names({start, from}), "silent through before ");
  EXPECT_EQ(names({to, to + 1}), "after silent through ");
  EXPECT_EQ(names({start, to + 1}), "after silent through before ");
  EXPECT_EQ(names({to + 1, to + 2}), "");
  EXPECT_EQ(names({start, to + 1}, {.limit = 2}), "after silent ");
  EXPECT_EQ(names({start, to + 1}, {.before = "silent", .limit = 2}), "through before ");
}

}  // namespace
}  // namespace shepherd
