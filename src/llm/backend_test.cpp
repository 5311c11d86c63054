// Whole calls of one backend over loopback: attempts, time-outs, keys, cancelling, the breaker, probing.
#include <gtest/gtest.h>

#include <cstdlib>

#include "llm/answer_call.h"
#include "llm/backend_for_test.h"
#include "llm/limits.h"

namespace shepherd {
namespace {

using std::chrono::milliseconds;

const std::string kAnswer =
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
const std::string kFirstPiece = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";
const std::string kRolePiece = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n";

class BackendCalls : public LoopFixture {
 protected:
  void open(const ScriptedBackend& backend) {
    config.name = "b";
    config.url = backend.url();
    core = std::make_shared<BackendCore>(config, ModelParts{loop, clock, random}, *net::parse_url(config.url));
    core->waits.first_pause = milliseconds(2);
    core->probed = true;
  }
  std::shared_ptr<AnswerCall> start(AnswerRecorder& observer) {
    auto call = std::make_shared<AnswerCall>(core, small_request(), observer);
    call->start();
    return call;
  }
  void ask() {
    auto call = start(seen);
    ASSERT_TRUE(run_until([&] { return seen.ends > 0; }));
    EXPECT_EQ(seen.ends, 1);
  }
  void ask_anew() {
    seen = AnswerRecorder();
    ask();
  }

  ModelConfig config = [] {
    ModelConfig made;
    made.model = "m";
    return made;
  }();
  std::shared_ptr<BackendCore> core;
  AnswerRecorder seen;
};

TEST_F(BackendCalls, GiveTheAnswer) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) { return http_reply(200, kAnswer); });
  open(backend);
  ask();
  ASSERT_TRUE(seen.end) << seen.message();
  EXPECT_EQ(seen.text, "Hello");
  EXPECT_EQ(seen.end->text, "Hello");
  EXPECT_EQ(seen.end->backend, "b");
  EXPECT_EQ(seen.end->model, "m") << "as configured, if the backend does not say";
  EXPECT_EQ(backend.seen()[0].target(), "POST /v1/chat/completions");
  EXPECT_TRUE(seen.retries.empty());
}

TEST_F(BackendCalls, TryAgainWhatMayPass) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t number) {
    if (number == 0) return http_reply(503, R"({"error":{"message":"Loading model"}})");
    if (number == 1) return ScriptedReply{};
    if (number == 2) return http_reply(200, kRolePiece);
    return http_reply(200, kAnswer);
  });
  open(backend);
  ask();
  ASSERT_TRUE(seen.end) << seen.message();
  ASSERT_EQ(seen.retries.size(), 3U);
  EXPECT_NE(seen.retries[0].find("Loading model"), std::string::npos);
  EXPECT_NE(seen.retries[1].find("cannot be reached"), std::string::npos);
  EXPECT_NE(seen.retries[2].find("broke off"), std::string::npos) << "no token had come";
}

TEST_F(BackendCalls, TryAgainOnlySoOften) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) { return http_reply(529, ""); });
  open(backend);
  ask();
  EXPECT_EQ(seen.reason(), "model_busy");
  EXPECT_EQ(backend.seen().size(), static_cast<std::size_t>(kModelAttempts));
}

TEST_F(BackendCalls, RepeatNothingAfterTheFirstToken) {
  std::atomic<int> kind = 0;
  ScriptedBackend backend([&](const SeenRequest&, std::size_t) {
    if (kind == 0) return http_reply(200, kFirstPiece + "data: {\"error\":{\"code\":503,\"message\":\"busy\"}}\n\n");
    if (kind == 1) return http_reply(200, kFirstPiece);
    return http_reply(200, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\"}]}}]}\n\n");
  });
  open(backend);
  for (const char* reason : {"model_busy", "model_broke_off", "model_broke_off"}) {
    ask_anew();
    EXPECT_EQ(seen.reason(), reason);
    EXPECT_EQ(seen.text, kind < 2 ? "Hel" : "");
    EXPECT_TRUE(seen.retries.empty());
    ++kind;
  }
  EXPECT_EQ(backend.chats(), 3U);
}

TEST_F(BackendCalls, TryAgainAfterAnErrorInTheStreamBeforeTheFirstToken) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t number) {
    return number == 0 ? http_reply(200, kRolePiece + "data: {\"error\":{\"code\":503,\"message\":\"busy\"}}\n\n")
                       : http_reply(200, kAnswer);
  });
  open(backend);
  ask();
  EXPECT_TRUE(seen.end) << seen.message();
}

TEST_F(BackendCalls, WaitAsLongAsTheBackendAsks) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t number) {
    if (number == 0) return http_reply(429, "", "retry-after: 0.3\r\n");
    if (number == 1) return http_reply(429, "", "retry-after-ms: 50\r\n");
    return http_reply(429, "", "retry-after: 31\r\n");
  });
  open(backend);
  auto began = std::chrono::steady_clock::now();
  ask();
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(350));
  EXPECT_EQ(seen.reason(), "model_busy");
  EXPECT_EQ(backend.seen().size(), 3U) << "nobody waits for half a minute";
  ASSERT_EQ(seen.end.error().fields.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(seen.end.error().fields[0].value), 31);
}

TEST_F(BackendCalls, DoNotTryAgainWhatCannotPass) {
  std::atomic<int> status = 400;
  ScriptedBackend backend(
      [&](const SeenRequest&, std::size_t) { return http_reply(status, R"({"error":{"message":"w"}})"); });
  open(backend);
  std::size_t asked = 0;
  for (auto [code, reason] : {std::pair(400, "model_refused"), std::pair(404, "model_refused"),
                              std::pair(401, "model_key"), std::pair(500, "model_failed")}) {
    status = code;
    ask_anew();
    EXPECT_EQ(seen.reason(), reason);
    EXPECT_EQ(backend.chats(), ++asked);
  }
}

TEST_F(BackendCalls, TryWordsThatCouldNotBeParsedOnce) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) {
    return http_reply(500, R"({"error":{"code":500,"message":"Failed to parse input at pos 4: <tool_call>"}})");
  });
  open(backend);
  ask();
  EXPECT_EQ(seen.reason(), "model_failed");
  EXPECT_EQ(backend.seen().size(), 2U);
}

TEST_F(BackendCalls, CancelClosesTheConnectionAtOnce) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) { return http_begin(kFirstPiece); });
  open(backend);
  auto call = start(seen);
  ASSERT_TRUE(run_until([&] { return seen.text == "Hel"; }));
  call->cancel();
  EXPECT_TRUE(backend.held_was_closed(0));
  call.reset();
  loop.turn(std::chrono::steady_clock::now());
  EXPECT_EQ(seen.ends, 0);
}

TEST_F(BackendCalls, AnObserverMayCancelInsideAPiece) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) {
    return http_begin("data: {\"choices\":[{\"delta\":{\"reasoning\":\"a\",\"content\":\"b\"}}]}\n\n" + kFirstPiece);
  });
  open(backend);
  std::shared_ptr<AnswerCall> call;
  seen.when_text = [&] {
    if (!call) return;
    call->cancel();
    call.reset();
  };
  call = start(seen);
  ASSERT_TRUE(run_until([&] { return !seen.text.empty(); }));
  EXPECT_TRUE(backend.held_was_closed(0));
  EXPECT_EQ(seen.ends, 0);
}

TEST_F(BackendCalls, CancelDuringThePauseEndsIt) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) { return http_reply(429, "", "retry-after: 20\r\n"); });
  open(backend);
  auto call = start(seen);
  ASSERT_TRUE(run_until([&] { return !seen.retries.empty(); }));
  call->cancel();
  loop.turn(std::chrono::steady_clock::now());
  EXPECT_EQ(seen.ends, 0);
}

TEST_F(BackendCalls, ATimeOutNamesTheSlowPhase) {
  std::atomic<int> kind = 0;
  ScriptedBackend backend([&](const SeenRequest& request, std::size_t) {
    if (request.target().starts_with("GET")) return http_reply(404, "");
    if (kind == 0) return ScriptedReply{"", true};  // no head
    if (kind == 1) return http_begin(": ping\n\n" + kRolePiece);
    return http_begin(kFirstPiece);
  });
  open(backend);
  core->waits.first_token = milliseconds(60);
  core->waits.next_token = milliseconds(120);
  for (const char* phase : {"first_token", "first_token", "next_token"}) {
    ask_anew();
    EXPECT_EQ(seen.reason(), "model_unreachable");
    ASSERT_EQ(seen.end.error().fields.size(), 1U);
    EXPECT_EQ(std::get<std::string>(seen.end.error().fields[0].value), phase) << kind;
    EXPECT_TRUE(backend.held_was_closed(static_cast<std::size_t>(kind))) << "its slot is free";
    core->breaker.succeeded();
    ++kind;
  }
}

// A chunk without a token does not shorten the wait for the first one, which a long prompt needs.
TEST_F(BackendCalls, TheFirstTokenHasItsWholeTime) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) { return http_begin(kRolePiece); });
  open(backend);
  core->waits.first_token = milliseconds(10'000);
  core->waits.next_token = milliseconds(1);
  auto call = start(seen);
  ASSERT_TRUE(run_until([&] { return backend.seen().size() == 1; }));
  auto until = std::chrono::steady_clock::now() + milliseconds(100);
  while (std::chrono::steady_clock::now() < until) loop.turn(until);
  EXPECT_EQ(seen.ends, 0) << seen.message();
  core->waits.next_token = milliseconds(10'000);
  backend.send_held(0, kAnswer);
  ASSERT_TRUE(run_until([&] { return seen.ends > 0; }));
  EXPECT_TRUE(seen.end);
}

TEST_F(BackendCalls, AnAnswerWithItsFinishNeedsNoEndMark) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) {
    return http_begin("data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n");
  });
  open(backend);
  core->waits.usage = milliseconds(30);
  ask();
  ASSERT_TRUE(seen.end) << seen.message();
  EXPECT_EQ(seen.end->text, "Hello");
}

TEST_F(BackendCalls, AnEndMarkNeedsNoEndOfTheResponse) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) { return http_begin(kAnswer); });
  open(backend);
  core->waits.stream_end = milliseconds(10);
  ask();
  EXPECT_TRUE(seen.end) << seen.message();
}

TEST_F(BackendCalls, TheBreakerOpensAndClosesAgain) {
  std::atomic<bool> good = false;
  ScriptedBackend backend(
      [&](const SeenRequest&, std::size_t) { return good ? http_reply(200, kAnswer) : http_reply(500, ""); });
  open(backend);
  for (int i = 0; i < kModelBreakerFailures; ++i) ask_anew();
  EXPECT_EQ(seen.reason(), "model_failed");
  std::size_t asked = backend.seen().size();
  ask_anew();
  EXPECT_EQ(seen.reason(), "model_unreachable");
  EXPECT_NE(seen.message().find("is not tried for 15 s"), std::string::npos) << seen.message();
  EXPECT_EQ(backend.seen().size(), asked) << "nothing was sent";
  clock.advance_ms(kModelBreakerPause.count());
  good = true;
  ask_anew();
  EXPECT_TRUE(seen.end) << seen.message();
  ask_anew();
  EXPECT_TRUE(seen.end);
}

TEST_F(BackendCalls, ARefusalIsNoFailureOfTheBackend) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) { return http_reply(400, ""); });
  open(backend);
  for (int i = 0; i <= kModelBreakerFailures; ++i) ask_anew();
  EXPECT_EQ(seen.reason(), "model_refused");
}

TEST_F(BackendCalls, LearnTheContextFromAnOverflow) {
  std::atomic<int> size = 512;
  ScriptedBackend backend([&](const SeenRequest&, std::size_t) {
    return http_reply(400,
                      R"({"error":{"type":"exceed_context_size_error","message":"m","n_prompt_tokens":600,"n_ctx":)" +
                          std::to_string(size) + "}}");
  });
  config.context_tokens = 4'096;
  open(backend);
  ask();
  EXPECT_EQ(seen.reason(), "context_full");
  EXPECT_EQ(core->findings.facts.context_tokens, 512);
  size = 8'192;
  ask_anew();
  EXPECT_EQ(core->findings.facts.context_tokens, 512) << "it never grows";
}

// --- keys ---

TEST_F(BackendCalls, ReadARefusedKeyAgainOnce) {
  ::setenv("LLM_TEST_KEY", "sk-first-key", 1);
  ScriptedBackend backend([](const SeenRequest& request, std::size_t number) {
    if (number == 0) ::setenv("LLM_TEST_KEY", "sk-second-key", 1);
    bool right = request.head.find("Authorization: Bearer sk-second-key") != std::string::npos;
    return right ? http_reply(200, kAnswer)
                 : http_reply(401, R"({"error":{"message":"Incorrect API key provided: sk-first-key"}})");
  });
  config.key_env = "LLM_TEST_KEY";
  open(backend);
  ask();
  EXPECT_TRUE(seen.end) << seen.message();
  ::setenv("LLM_TEST_KEY", "sk-wrong-key", 1);
  core->key.forget();
  ask_anew();
  EXPECT_EQ(seen.reason(), "model_key");
  EXPECT_EQ(backend.seen().size(), 4U);
  EXPECT_EQ(seen.message().find("sk-"), std::string::npos) << seen.message();
  ::unsetenv("LLM_TEST_KEY");
  core->key.forget();
  ask_anew();
  EXPECT_EQ(seen.reason(), "model_key");
  EXPECT_NE(seen.message().find("LLM_TEST_KEY"), std::string::npos) << "it says what to set";
}

TEST_F(BackendCalls, NoErrorHasAKey) {
  ::setenv("LLM_TEST_KEY", "sk-very-secret-key", 1);
  std::atomic<int> kind = 0;
  const std::string padding(kMaxFaultTextBytes - 10, 'x');
  ScriptedBackend backend([&](const SeenRequest& request, std::size_t) {
    std::string echo = request.head.substr(request.head.find("Authorization"));
    for (char& c : echo) c = c == '\r' || c == '\n' ? ' ' : c;
    if (kind == 0) return http_reply(500, "you sent " + echo);
    if (kind == 1) return http_reply(200, kFirstPiece + R"(data: {"error":{"message":"you sent )" + echo + "\"}}\n\n");
    if (kind == 2) return http_reply(429, "you sent " + echo);
    if (kind == 3) return http_reply(500, "token: tok-of-a-header");
    return http_reply(500, padding + "sk-very-secret-key");  // cut in the middle of the key
  });
  config.key_env = "LLM_TEST_KEY";
  config.headers["X-Extra"] = "Bearer tok-of-a-header";
  open(backend);
  for (kind = 0; kind < 5; ++kind) {
    ask_anew();
    core->breaker.succeeded();
    std::string all = seen.message();
    for (const std::string& why : seen.retries) all += why;
    EXPECT_EQ(all.find("sk-very"), std::string::npos) << all;
    EXPECT_EQ(all.find("tok-of-a"), std::string::npos) << all;
    EXPECT_NE(all.find("(hidden)"), std::string::npos) << all;
  }
  ::unsetenv("LLM_TEST_KEY");
}

// --- what is asked beside ---

std::string models_list(const std::string& id, const std::string& more = "") {
  return R"({"data":[{"id":")" + id + "\"" + more + "}]}";
}

TEST_F(BackendCalls, FindTheNameOfTheModel) {
  std::atomic<int> lists = 0;
  ScriptedBackend backend([&](const SeenRequest& request, std::size_t) {
    if (request.target() == "GET /v1/models") {
      return ++lists == 1 ? http_reply(503, "")
                          : http_reply(200, models_list("found", R"(,"owned_by":"someone","context_length":9000)"));
    }
    return http_reply(200, kAnswer);
  });
  config.model.clear();
  open(backend);
  core->probed = false;
  ask();
  ASSERT_TRUE(seen.end) << seen.message();
  EXPECT_EQ(seen.retries.size(), 1U) << "a list that is not ready is asked for again";
  EXPECT_EQ(core->model(), "found");
  EXPECT_EQ(core->findings.facts.context_tokens, 9'000);
  EXPECT_NE(backend.seen().back().body.find(R"("model":"found")"), std::string::npos);
}

TEST_F(BackendCalls, SayThatThereIsNoModel) {
  ScriptedBackend backend([&](const SeenRequest&, std::size_t) { return http_reply(200, R"({"data":[]})"); });
  config.model.clear();
  open(backend);
  core->probed = false;
  ask();
  EXPECT_EQ(seen.reason(), "model_refused");
  EXPECT_NE(seen.message().find("set \"model\""), std::string::npos);
}

TEST_F(BackendCalls, AnUnknownNameOfADeadBackendOpensTheBreaker) {
  ScriptedBackend backend([&](const SeenRequest&, std::size_t) { return http_reply(500, ""); });
  config.model.clear();
  open(backend);
  core->probed = false;
  for (int i = 0; i < kModelBreakerFailures; ++i) ask_anew();
  std::size_t asked = backend.seen().size();
  ask_anew();
  EXPECT_EQ(backend.seen().size(), asked);
}

// A backend that was away may come back with another context.
TEST_F(BackendCalls, AFailedBackendIsLookedAtAgainBesideTheNextCall) {
  std::atomic<bool> good = false;
  ScriptedBackend backend([&](const SeenRequest& request, std::size_t) {
    if (!good) return http_reply(500, "");
    if (request.target() == "GET /v1/models")
      return http_reply(200, models_list("m", R"(,"owned_by":"x","context_length":9000)"));
    return http_reply(200, kAnswer);
  });
  open(backend);
  ask();
  EXPECT_EQ(seen.reason(), "model_failed");
  good = true;
  ask_anew();
  EXPECT_TRUE(seen.end) << seen.message();
  EXPECT_TRUE(run_until([&] { return core->findings.facts.context_tokens == 9'000; }));
  std::size_t asked = backend.seen().size();
  ask_anew();
  EXPECT_EQ(backend.seen().size(), asked + 1) << "once";
}

TEST_F(BackendCalls, AModelCountsAndProbes) {
  ScriptedBackend backend([&](const SeenRequest& request, std::size_t) {
    std::string target = request.target();
    if (target == "GET /v1/models")
      return http_reply(200, models_list("m", R"(,"owned_by":"vllm","max_model_len":4096)"));
    if (target == "POST /tokenize") return http_reply(200, R"({"count":12,"max_model_len":4096,"tokens":[1]})");
    return http_reply(404, "");
  });
  config.name = "b";
  config.url = backend.url("/v1/");
  auto model = open_model(config, {loop, clock, random});
  ASSERT_TRUE(model);
  std::optional<Result<std::int64_t>> counted;
  auto counting = (*model)->count(small_request(), [&](Result<std::int64_t> tokens) { counted = std::move(tokens); });
  ASSERT_TRUE(run_until([&] { return counted.has_value(); }));
  ASSERT_TRUE(*counted) << counted->error().message;
  EXPECT_EQ(**counted, 12);
  EXPECT_EQ((*model)->facts().context_tokens, 4'096);
  EXPECT_TRUE((*model)->facts().counts_exactly);
  // A handle that is dropped says nothing.
  bool called = false;
  auto dropped = (*model)->count(small_request(), [&](Result<std::int64_t>) { called = true; });
  dropped.reset();
  std::optional<Result<ModelFacts>> probed;
  auto probing = (*model)->probe([&](Result<ModelFacts> facts) { probed = std::move(facts); });
  ASSERT_TRUE(run_until([&] { return probed.has_value(); }));
  EXPECT_TRUE(*probed);
  EXPECT_FALSE(called);
}

TEST_F(BackendCalls, AnAddressMustBeOne) {
  for (const char* url : {"", "localhost:8000", "ws://127.0.0.1/v1", "http://"}) {
    config.url = url;
    auto model = open_model(config, {loop, clock, random});
    ASSERT_FALSE(model) << url;
    EXPECT_EQ(model.error().reason, "bad_model_url");
  }
}

TEST_F(BackendCalls, ALongErrorIsReadOnlyInPart) {
  ScriptedBackend backend([](const SeenRequest&, std::size_t) {
    ScriptedReply reply = http_begin(std::string(kMaxFaultBytes + 5'000, 'x'));
    reply.bytes.replace(9, 3, "500");
    return reply;
  });
  open(backend);
  ask();
  EXPECT_EQ(seen.reason(), "model_failed");
  EXPECT_TRUE(backend.held_was_closed(0));
}

}  // namespace
}  // namespace shepherd
