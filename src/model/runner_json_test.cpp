#include "model/runner_json.h"

#include <gtest/gtest.h>
#include "model/limits.h"

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

TEST(RunnerJson, BoundsOfAClaim) {
  auto claim = [](const std::string& members) { return decode_claim_request("{" + members + "}"); };
  auto member = [](const auto& result) {
    return result ? std::string("none") : std::get<std::string>(result.error().fields.at(0).value);
  };
  EXPECT_EQ(member(claim(R"("agents":["a"],"runner":")" + std::string(kMaxRunnerIdBytes, 'r') + "\"")), "none");
  EXPECT_EQ(member(claim(R"("agents":["a"],"runner":")" + std::string(kMaxRunnerIdBytes + 1, 'r') + "\"")), "runner");
  EXPECT_EQ(member(claim(R"("runner":"r","agents":["a"],"wait":30)")), "none");
  EXPECT_EQ(member(claim(R"("runner":"r","agents":["a"],"wait":31)")), "wait");
  EXPECT_EQ(member(claim(R"("runner":"r","taskID":"a/b")")), "taskID");
  EXPECT_EQ(member(claim(R"("runner":"r","agents":["a"],"labels":{"k":1})")), "labels.k");
  std::string agents, labels;
  for (std::size_t i = 0; i < kMaxClaimAgents; ++i) agents += R"("a",)";
  for (std::size_t i = 0; i < kMaxLabels; ++i) labels += "\"k" + std::to_string(i) + R"(":"v",)";
  auto many = [&](const std::string& more_agents, const std::string& more_labels) {
    return claim(R"("runner":"r","agents":[)" + agents.substr(0, agents.size() - 1) + more_agents + R"(],"labels":{)" +
                 labels.substr(0, labels.size() - 1) + more_labels + "}");
  };
  EXPECT_EQ(member(many("", "")), "none");
  EXPECT_EQ(member(many(R"(,"b")", "")), "agents");
  EXPECT_EQ(member(many("", R"(,"x":"y")")), "labels");
  EXPECT_EQ(member(decode_lease_request(R"({"runner":"r","leaseEpoch":0})")), "leaseEpoch");
  EXPECT_EQ(decode_lease_request(R"({"runner":"r","leaseEpoch":1})")->epoch, 1U);
  EXPECT_EQ(encode_lease("", 1, 2), R"({"leaseEpoch":1,"leaseSeconds":2})");
}

TEST(RunnerJson, DataHasEverythingThatWasGiven) {
  TaskSpec spec;
  spec.id = "t";
  spec.description = "d";
  spec.context = "c";
  spec.source_url = "su";
  spec.source_type = "st";
  spec.source_id = "si";
  spec.repo_url = "u";
  spec.repo_ref = "r";
  spec.agent = "a";
  spec.model = "m";
  spec.mode = "autonomous";
  spec.command = {"make"};
  spec.max_turns = 1;
  spec.allowed_tools = {"Read"};
  spec.mcp_servers_json = "{}";
  spec.budget_usd = 0.5;
  spec.timeout_seconds = 1;
  spec.resume_of = "old";
  spec.labels = {{"k", "v"}};
  EXPECT_EQ(encode_task_data(spec, "s"),
            R"({"id":"t","description":"d","context":"c","sourceURL":"su","sourceType":"st","sourceID":"si",)"
            R"("repo":{"url":"u","ref":"r"},"agent":"a","model":"m","mode":"autonomous","command":["make"],)"
            R"("maxTurns":1,"allowedTools":["Read"],"mcpServers":{},"budget":0.5,"timeout":1,"resumeOf":"old",)"
            R"("resumeSession":"s","labels":{"k":"v"}})");
}

}  // namespace
}  // namespace shepherd
