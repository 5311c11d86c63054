#include "model/task_warnings.h"

#include <gtest/gtest.h>

#include "model/limits.h"

namespace shepherd {
namespace {

using Warnings = std::vector<std::string>;

TEST(TaskWarnings, NameWhatWasProbablyMeant) {
  EXPECT_EQ(task_warnings(R"({"prompt":"x","workflow":"w","bogus":1,"callbackUrl":"u","max_turn":3})"),
            (Warnings{R"("workflow" is no member of a task and was ignored. Did you mean "workflowID"?)",
                      R"("bogus" is no member of a task and was ignored.)",
                      R"("callbackUrl" is no member of a task and was ignored. Did you mean "callbackURL"?)",
                      R"("max_turn" is no member of a task and was ignored. Did you mean "maxTurns"?)"}));
  EXPECT_EQ(task_warnings(R"({"task":{"description":"d","sourceUrl":"s"},"repo":{"url":"u","branch":"b"}})"),
            (Warnings{R"("task.sourceUrl" is no member of a task and was ignored. Did you mean "task.sourceURL"?)",
                      R"("repo.branch" is no member of a task and was ignored.)"}));
}

TEST(TaskWarnings, WhatOlderClientsSendIsFine) {
  EXPECT_EQ(task_warnings(R"({"repo":{"url":"u","ref":"r"},"task":{"description":"d","context":"c","sourceURL":"s",)"
                          R"("sourceType":"issue","sourceID":"1"},"callbackURL":"u","labels":{"anything":"x"},)"
                          R"("runner":{"sandboxTemplateName":"t","timeout":"30m","serviceAccountName":"a"}})"),
            Warnings{});
}

TEST(TaskWarnings, AreBounded) {
  std::string json = "{";
  for (int i = 0; i < 1'000; ++i) json += "\"zz" + std::to_string(i) + "\":1,";
  json.back() = '}';
  EXPECT_EQ(task_warnings(json).size(), kMaxTaskWarnings);
}

}  // namespace
}  // namespace shepherd
