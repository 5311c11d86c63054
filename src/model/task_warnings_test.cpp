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

TEST(TaskWarnings, LikeIsWithinTwoLettersOrABeginning) {
  auto meant = [](const std::string& name) {
    Warnings warnings = task_warnings("{\"" + name + "\":1}");
    if (warnings.size() != 1) return std::string("none");
    std::size_t at = warnings[0].find("Did you mean \"");
    return at == std::string::npos ? std::string("?") : warnings[0].substr(at + 14, warnings[0].size() - at - 16);
  };
  EXPECT_EQ(meant("lables"), "labels") << "two letters";
  EXPECT_EQ(meant("xxbels"), "labels");
  EXPECT_EQ(meant("xxxels"), "?") << "three letters";
  EXPECT_EQ(meant("LABELS"), "labels");
  EXPECT_EQ(meant("max_turns"), "maxTurns");
  EXPECT_EQ(meant("call_back_u_r_l"), "callbackURL") << "underscores are no letters";
  EXPECT_EQ(meant("work"), "workflowID") << "a beginning of four letters";
  EXPECT_EQ(meant("wor"), "?");
  EXPECT_EQ(meant("timeoutSeconds"), "timeout");
  EXPECT_EQ(meant("repo.url"), "repo") << "a path is no member";
  EXPECT_EQ(meant("x"), "?") << "as many wrong letters as it has";
}

TEST(TaskWarnings, SeveralAreTooMany) {
  std::string many = "{";
  for (std::size_t i = 0; i <= kMaxTaskWarnings; ++i) many += "\"zzzzzz" + std::to_string(i) + "\":1,";
  many.back() = '}';
  EXPECT_EQ(task_warnings(many).size(), kMaxTaskWarnings);
  EXPECT_EQ(task_warnings("{\"" + std::string(kMaxWarnedNameBytes, 'z') + "\":1}").size(), 1U);
  EXPECT_EQ(task_warnings("{\"" + std::string(kMaxWarnedNameBytes + 1, 'z') + "\":1}").size(), 0U);
}

}  // namespace
}  // namespace shepherd
