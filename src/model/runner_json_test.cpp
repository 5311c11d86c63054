#include "model/runner_json.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(RunnerJson, AClaimIsRead) {
  auto claim = decode_claim_request(
      R"({"runner":"r","agents":["claude","text"],"labels":{"a":"b"},"wait":7,"taskID":"t","more":1})");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->runner, "r");
  EXPECT_EQ(claim->agents, (std::vector<std::string>{"claude", "text"}));
  EXPECT_EQ(claim->labels.at("a"), "b");
  EXPECT_EQ(claim->wait_seconds, 7);
  EXPECT_EQ(claim->task, "t");
  EXPECT_TRUE(decode_claim_request(R"({"runner":"r","taskID":"t"})")) << "who names a task need not name agents";
  for (const char* bad :
       {"[]", "{}", R"({"runner":"r"})", R"({"runner":"","agents":["a"]})", R"({"runner":"r","agents":[1]})",
        R"({"runner":"r","agents":["a"],"wait":31})", R"({"runner":"r","agents":["a"],"wait":-1})",
        R"({"runner":"r","agents":["a"],"labels":[]})"}) {
    EXPECT_FALSE(decode_claim_request(bad)) << bad;
  }
}

TEST(RunnerJson, ALeaseIsRead) {
  auto lease = decode_lease_request(R"({"runner":"r","leaseEpoch":3})");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->epoch, 3U);
  for (const char* bad : {"{}", R"({"runner":"r"})", R"({"leaseEpoch":3})", R"({"runner":"r","leaseEpoch":"3"})"}) {
    EXPECT_FALSE(decode_lease_request(bad)) << bad;
  }
  EXPECT_EQ(encode_lease("t", 3, 30), R"({"taskID":"t","leaseEpoch":3,"leaseSeconds":30})");
}

TEST(RunnerJson, DataLeavesOutWhatWasNotGiven) {
  TaskSpec spec;
  spec.id = "t";
  spec.description = "do it";
  EXPECT_EQ(encode_task_data(spec, ""),
            R"({"id":"t","description":"do it","context":"","repo":{"url":""},"labels":{}})");
  spec.command = {"make", "te\"st"};
  spec.labels = {{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(encode_task_data(spec, "s1"),
            R"({"id":"t","description":"do it","context":"","repo":{"url":""},"command":["make","te\"st"],)"
            R"("resumeSession":"s1","labels":{"a":"1","b":"2"}})");
}

}  // namespace
}  // namespace shepherd
