#include "api/api_fixture.h"

namespace shepherd {
namespace {

class HooksApi : public ApiFixture {
 protected:
  // A hook call of session s1, `second` seconds after the first.
  static std::string hook(const std::string& name, int second, const std::string& members = "") {
    return R"({"session_id":"s1","cwd":"/work","hook_event_name":")" + name + R"(","timestamp":"2026-02-18T14:00:)" +
           (second < 10 ? "0" : "") + std::to_string(second) + R"(.000Z")" + (members.empty() ? "" : "," + members) +
           "}";
  }
  static std::string call(int second, const std::string& id, bool done) {
    return hook(done ? "PostToolUse" : "PreToolUse", second,
                R"("tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":")" + id + "\"" +
                    (done ? R"(,"tool_response":{"stdout":"a b"},"duration_ms":5)" : ""));
  }
  void report(const std::string& body) {
    auto response = produce("/api/v1/hooks/claude", body);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.body, "{}");
  }
  json::object task(const std::string& id) {
    auto response = get("/api/v1/tasks/" + id);
    EXPECT_EQ(response.status, 200) << id;
    return response.status == 200 ? parsed(response).as_object() : json::object();
  }
  std::string state(const std::string& id) { return std::string(task(id).at("status").at("state").as_string()); }
  std::string types(const std::string& id) {
    std::string text;
    json::value page = parsed(get("/api/v1/tasks/" + id + "/events"));
    for (const json::value& event : page.at("events").as_array()) {
      text += (text.empty() ? "" : " ") + std::string(event.at("type").as_string());
    }
    return text;
  }
};

TEST_F(HooksApi, ASessionBecomesATask) {
  report(hook("SessionStart", 0, R"("source":"startup")"));
  report(hook("UserPromptSubmit", 1, R"("prompt":"Fix the login bug\nplease")"));
  report(call(2, "t1", false));
  report(call(3, "t1", true));
  json::object shown = task("claude-s1");
  EXPECT_EQ(shown.at("title").as_string(), "Fix the login bug");
  EXPECT_EQ(shown.at("labels").at("source").as_string(), "claude-hook");
  EXPECT_EQ(shown.at("sessionID").as_string(), "s1");
  EXPECT_EQ(shown.at("agent").as_string(), "");  // so no runner claims it
  EXPECT_EQ(state("claude-s1"), "running");
  report(hook("Stop", 4, R"("last_assistant_message":"Done.")"));
  EXPECT_EQ(state("claude-s1"), "waiting_for_input");
  report(hook("UserPromptSubmit", 5, R"("prompt":"More")"));
  EXPECT_EQ(state("claude-s1"), "running");
  EXPECT_EQ(task("claude-s1").at("title").as_string(), "Fix the login bug");
  report(hook("SessionEnd", 6, R"("reason":"other")"));
  EXPECT_EQ(state("claude-s1"), "completed");
  EXPECT_EQ(types("claude-s1"), "session_start message tool_call tool_result thinking status message status status");
}

TEST_F(HooksApi, RepeatsAreOneEvent) {
  std::string all = "[" + hook("SessionStart", 0) + "," + hook("UserPromptSubmit", 1, R"("prompt":"Go")") + "," +
                    call(2, "t1", false) + "," + call(3, "t1", true) + "," + hook("Stop", 4) + "," +
                    hook("SessionEnd", 5) + "]";
  report(all);
  std::string once = types("claude-s1");
  report(all);
  EXPECT_EQ(types("claude-s1"), once);
  EXPECT_EQ(get("/api/v1/tasks/claude-s1-2").status, 404) << "a repeat opened another task";
}

// A repeated call must not wake a session that has stopped since.
TEST_F(HooksApi, ARepeatDoesNotChangeTheState) {
  report(hook("SessionStart", 0));
  report(call(1, "t1", false));
  report(hook("Stop", 2));
  report(call(1, "t1", false));
  EXPECT_EQ(state("claude-s1"), "waiting_for_input");
}

TEST_F(HooksApi, AResumedSessionOpensAnotherTask) {
  report(hook("SessionStart", 0));
  report(hook("SessionEnd", 1));
  report(hook("SessionStart", 2, R"("source":"resume")"));
  report(hook("UserPromptSubmit", 3, R"("prompt":"Again")"));
  json::object second = task("claude-s1-2");
  EXPECT_EQ(second.at("sessionID").as_string(), "s1");
  EXPECT_EQ(second.at("resumeOf").as_string(), "claude-s1");
  EXPECT_EQ(second.at("title").as_string(), "Again");
  report(hook("SessionEnd", 4));
  report(hook("UserPromptSubmit", 5, R"("prompt":"Third")"));
  EXPECT_EQ(task("claude-s1-3").at("title").as_string(), "Third");
  EXPECT_EQ(*store_.record("hook_session", "claude-s1"), "3") << "the next call looks there first";
}

// A closed terminal sends no SessionEnd. If the session works again after all, it gets another task.
TEST_F(HooksApi, ASessionThatFellSilentGoesOnInAnotherTask) {
  steering_config_.session_idle_seconds = 600;
  restart_with(config_);
  report(call(1, "t1", false));
  steering_->tick();
  journal_.drain();
  EXPECT_EQ(state("claude-s1"), "running");
  clock_.advance_ms(600'000);
  while (state("claude-s1") == "running") steering_->tick();  // once steering has seen the call
  EXPECT_EQ(state("claude-s1"), "failed");
  report(call(2, "t1", true));  // it happened before the end and was delivered late
  EXPECT_EQ(get("/api/v1/tasks/claude-s1-2").status, 404);
  EXPECT_EQ(types("claude-s1"), "session_start tool_call status tool_result");
  clock_.advance_ms(1);
  report(R"({"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t2"})");
  json::object second = task("claude-s1-2");
  EXPECT_EQ(second.at("sessionID").as_string(), "s1");
  EXPECT_EQ(second.at("resumeOf").as_string(), "claude-s1");
  EXPECT_EQ(state("claude-s1"), "failed") << "an end is an end";
}

TEST_F(HooksApi, StragglersAfterTheEndAreKeptAsLate) {
  report(hook("SessionStart", 0));
  report(call(1, "t1", false));
  report(hook("SessionEnd", 3));
  report(call(2, "t1", true));
  json::value page = parsed(get("/api/v1/tasks/claude-s1/events"));
  json::value last = page.at("events").as_array().back();
  EXPECT_EQ(last.at("type").as_string(), "tool_result");
  EXPECT_TRUE(last.at("late").as_bool());
  EXPECT_EQ(state("claude-s1"), "completed");
  EXPECT_EQ(get("/api/v1/tasks/claude-s1-2").status, 404);
}

TEST_F(HooksApi, HooksInstalledInTheMiddleOfASession) {
  report(call(1, "t1", false));
  EXPECT_EQ(types("claude-s1"), "session_start tool_call");
  EXPECT_EQ(task("claude-s1").at("sessionID").as_string(), "s1");
}

TEST_F(HooksApi, CallsThatTheSenderLostAreNamed) {
  report(hook("SessionStart", 0));
  report(hook("HooksLost", 1, R"("lost":12,"elsewhere":3)"));
  json::value last = parsed(get("/api/v1/tasks/claude-s1/events")).at("events").as_array().back();
  EXPECT_EQ(last.at("type").as_string(), "log");
  EXPECT_EQ(last.at("summary").as_string(),
            "12 hook calls were lost here: too many waited for a server; 3 more of other sessions");
  EXPECT_EQ(task("claude-s1").at("status").at("state").as_string(), "running");
}

TEST_F(HooksApi, APermissionIsAskedForInTheTerminal) {
  report(hook("SessionStart", 0));
  report(call(1, "t1", false));
  report(hook("PermissionRequest", 2, R"("tool_name":"Bash","tool_input":{"command":"rm x"})"));
  EXPECT_EQ(state("claude-s1"), "waiting_for_input");
  report(call(3, "t1", true));
  EXPECT_EQ(state("claude-s1"), "running");
}

TEST_F(HooksApi, SecretsAreRedactedInTitlesToo) {
  report(hook("UserPromptSubmit", 1, R"("prompt":"use ghp_abcdefghijklmnopqrstuvwxyz0123456789 to push")"));
  EXPECT_EQ(get("/api/v1/tasks/claude-s1").body.find("ghp_abc"), std::string::npos);
  EXPECT_EQ(get("/api/v1/tasks/claude-s1/events?detail=1").body.find("ghp_abc"), std::string::npos);
}

TEST_F(HooksApi, SecretsAreRedactedInLiveText) {
  report(hook("SessionStart", 0));
  auto watching = follow("/api/v1/tasks/claude-s1/events?deltas=1");
  next(watching, "caught_up");
  report(hook("MessageDisplay", 1, R"("message_id":"m1","delta":"it is ghp_abcdefghijklmnopqrstuvwxyz0123456789")"));
  json::object delta = next(watching, "delta");
  EXPECT_TRUE(delta.at("data").at("text").as_string().starts_with("it is ")) << json::serialize(delta);
  EXPECT_EQ(json::serialize(delta).find("ghp_abc"), std::string::npos) << json::serialize(delta);
}

TEST_F(HooksApi, BadCallsAreNamed) {
  auto response = produce("/api/v1/hooks/claude", "[" + hook("Stop", 1) + R"(,{"session_id":"s1"}])");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(code_of(response), "bad_hook");
  EXPECT_EQ(parsed(response).at("index").as_int64(), 1);
  EXPECT_EQ(get("/api/v1/tasks/claude-s1").status, 404) << "all or nothing";
  EXPECT_EQ(produce("/api/v1/hooks/claude", "nonsense").status, 400);
}

TEST_F(HooksApi, NeedsAProducerOfAnyTask) {
  std::string body = hook("SessionStart", 0);
  auto as = [&](const std::string& secret) {
    return ApiFixture::call(*internal_, "POST", "/api/v1/hooks/claude", body, bearer(secret)).status;
  };
  EXPECT_EQ(as(""), 401);
  EXPECT_EQ(as(token("vera", Scope::viewer)), 403);
  EXPECT_EQ(as(token("one", Scope::producer, "other")), 403);
  EXPECT_EQ(as(token("any", Scope::producer)), 200);
}

}  // namespace
}  // namespace shepherd
