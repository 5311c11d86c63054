// Only operators, by commands, and the stream that opened an approval can settle it.
#include "api/api_fixture.h"

namespace shepherd {
namespace {

class ApprovalApi : public ApiFixture {
 protected:
  net::ClientResponse say(const std::string& state, const std::string& producer, int sequence) {
    std::string number = producer.empty() ? "" : R"("sequence":)" + std::to_string(sequence) + ",";
    std::string event = "{" + number + R"("type":"approval","summary":"Approved by alice","tool":"Bash",)" +
                        R"("data":{"approvalID":"a1","state":")" + state + R"("}})";
    net::HeaderList headers = bearer(token("p" + producer + std::to_string(sequence), Scope::producer, "t1"));
    if (!producer.empty()) headers.emplace_back("Shepherd-Producer", producer);
    return call(*internal_, "POST", "/api/v1/tasks/t1/events", event, headers);
  }
  std::size_t open() { return parsed(get("/api/v1/tasks/t1")).at("approvals").as_array().size(); }
};

TEST_F(ApprovalApi, AnotherProducerDoesNotSettleIt) {
  create("t1");
  ASSERT_EQ(say("pending", "runner-1", 1).status, 200);
  ASSERT_EQ(open(), 1U);
  for (const char* state : {"approved", "denied", "expired", "pending"}) {
    auto loose = say(state, "", 0);
    EXPECT_EQ(loose.status, 403) << state << loose.body;
    EXPECT_NE(loose.body.find("reserved_type"), std::string::npos);
    EXPECT_EQ(say(state, "agent", 1).status, 403) << state;
  }
  EXPECT_EQ(open(), 1U);
  EXPECT_EQ(say("approved", "runner-1", 2).status, 200) << "the stream that opened it knows what its agent was told";
  EXPECT_EQ(open(), 0U);
}

TEST_F(ApprovalApi, AProducerWithoutANameSettlesWhatSuchAOneOpened) {
  create("t1");
  ASSERT_EQ(say("pending", "", 0).status, 200);
  EXPECT_EQ(say("denied", "", 0).status, 200);
  EXPECT_EQ(open(), 0U);
  EXPECT_EQ(say("approved", "", 0).status, 200) << "nothing is open: what it says changes nothing";
}

}  // namespace
}  // namespace shepherd
