#include "api/api_fixture.h"
#include "steering/limits.h"

namespace shepherd {
namespace {

class RunnersApi : public ApiFixture {
 protected:
  net::ClientResponse report(const std::string& runner, const std::string& body) {
    return call(*internal_, "PUT", "/api/v1/runners/" + runner, body, bearer(admin_));
  }
  // Creates a task for the runner and claims it; returns the epoch.
  std::string claimed(const std::string& task, const std::string& runner) {
    EXPECT_EQ(post("/api/v1/tasks", R"({"id":")" + task + R"(","prompt":"do it","agent":"claude"})").status, 201);
    auto claim = produce("/api/v1/claims", R"({"runner":")" + runner + R"(","taskID":")" + task + R"("})");
    EXPECT_EQ(claim.status, 200) << claim.body;
    return std::to_string(parsed(claim).at("leaseEpoch").to_number<int>());
  }
};

TEST_F(RunnersApi, ARunnerSaysThatItIsThereAndLeaves) {
  EXPECT_EQ(get("/api/v1/runners").body, "[]");
  std::string epoch = claimed("t", "build-7");
  auto answer = report("build-7", R"({"agents":["claude"],"labels":{"zone":"b"},"slots":4,"version":"1","machine":"m",)"
                                  R"("tasks":[{"taskID":"t","leaseEpoch":)" +
                                      epoch + "}]}");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body, R"({"presentSeconds":60,"leaseSeconds":30,"lost":[]})");
  EXPECT_EQ(get("/api/v1/runners").body,
            R"([{"id":"build-7","agents":["claude"],"labels":{"zone":"b"},"slots":4,"version":"1","machine":"m",)"
            R"("tasks":["t"]}])");
  complete("t");
  EXPECT_EQ(parsed(get("/api/v1/runners")).at(0).at("tasks").as_array().size(), 0U) << "what has ended is nobody's";
  EXPECT_EQ(call(*internal_, "DELETE", "/api/v1/runners/build-7", "", bearer(admin_)).status, 204);
  EXPECT_EQ(get("/api/v1/runners").body, "[]");
  EXPECT_EQ(call(*internal_, "DELETE", "/api/v1/runners/build-7", "", bearer(admin_)).status, 204) << "again";
}

TEST_F(RunnersApi, AReportNamesTheTasksThatAreNoLongerItsOwn) {
  std::string mine = claimed("mine", "r1");
  std::string theirs = claimed("theirs", "r2");
  std::string over = claimed("over", "r1");
  complete("over");
  auto lease = [](const std::string& task, const std::string& epoch) {
    return R"({"taskID":")" + task + R"(","leaseEpoch":)" + epoch + "}";
  };
  auto answer = report("r1", R"({"tasks":[)" + lease("mine", mine) + "," + lease("theirs", theirs) + "," +
                                 lease("over", over) + "," + lease("nobody", "1") + "]}");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(parsed(answer).at("lost"), json::parse(R"(["theirs","over","nobody"])"));
  answer = report("r1", R"({"tasks":[)" + lease("mine", mine + "0") + "]}");
  EXPECT_EQ(parsed(answer).at("lost"), json::parse(R"(["mine"])")) << "another lease of it";
}

TEST_F(RunnersApi, OnlyAPostThatCanBeReadRenewsTheLease) {
  std::uint64_t epoch = std::stoull(claimed("t", "r1"));
  while (!steering_->leases().knows("t", epoch)) std::this_thread::yield();
  auto heard = [&] {
    clock_.advance_ms(kMostLeaseStep.count());
    steering_->tick();  // the first renewal of a lease is written at once
    journal_.drain();
    auto leases = store_.leases(LeaseKind::task, "t");
    return leases && leases->size() == 1 && leases->front().heard;
  };
  auto send = [&](const std::string& route, const std::string& body, bool named) {
    net::HeaderList headers;
    if (named) headers.emplace_back("Shepherd-Lease", std::to_string(epoch));
    return produce("/api/v1/tasks/t/" + route, body, headers).status;
  };
  for (const char* route : {"events", "status", "deltas"}) {
    for (bool named : {false, true}) {
      EXPECT_EQ(send(route, "{nonsense", named), 400) << route;
      EXPECT_FALSE(heard()) << route;
    }
  }
  EXPECT_EQ(send("events", R"({"type":"log","summary":"x"})", true), 200);
  EXPECT_TRUE(heard());
}

TEST_F(RunnersApi, ABadReportIsExplained) {
  for (const char* bad : {"[]", R"({"agents":"claude"})", R"({"labels":{"a":1}})", R"({"slots":-1})", R"({"tasks":{}})",
                          R"({"tasks":["t"]})", R"({"tasks":[{"taskID":"t"}]})"}) {
    EXPECT_EQ(report("r1", bad).status, 400) << bad;
  }
  EXPECT_EQ(code_of(report(std::string(129, 'r'), "{}")), "bad_runner");
  EXPECT_EQ(report(std::string(128, 'r'), "{}").status, 200);
}

}  // namespace
}  // namespace shepherd
