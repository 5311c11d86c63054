#include "llm/model_key.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "llm/backend_for_test.h"
#include "llm/limits.h"

namespace shepherd {
namespace {

class ModelKeys : public LoopFixture {
 protected:
  void SetUp() override {
    directory = testing::TempDir() + "model_key_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    config.name = "b";
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void write(const std::string& text) {
    config.key_file = directory + "/key";
    std::ofstream(config.key_file, std::ios::binary) << text;
  }
  std::unique_ptr<ModelKey> make() { return std::make_unique<ModelKey>(config, loop, system_clock, MISBEHAVING_AGENT); }
  // The key, or the error's message.
  std::string key_of(ModelKey& key) {
    std::optional<Result<std::string>> got;
    key.get([&](Result<std::string> read) { got = std::move(read); });
    EXPECT_TRUE(run_until([&] { return got.has_value(); }));
    if (!got) return "nothing";
    if (!*got) {
      EXPECT_EQ(got->error().reason, "model_key");
      EXPECT_EQ(got->error().code, ErrorCode::permission_denied);
    }
    return *got ? **got : "error: " + got->error().message;
  }
  std::string key() {
    auto made = make();
    return key_of(*made);
  }

  std::string directory;
  ModelConfig config;
  SystemClock system_clock;
};

TEST_F(ModelKeys, AreNotNeeded) {
  EXPECT_EQ(key(), "");
}

TEST_F(ModelKeys, AreTheFirstLineOfAFile) {
  write("  sk-one \r\nsk-two\n");
  EXPECT_EQ(key(), "sk-one");
  write("sk-three");
  EXPECT_EQ(key(), "sk-three");
}

TEST_F(ModelKeys, SayWhatIsWrongWithTheFile) {
  write("\nsk-later");
  EXPECT_EQ(key(), "error: the key of model \"b\" is missing: " + config.key_file + " is empty");
  write("sk-\xC3\xA9");
  EXPECT_NE(key().find("more than plain ASCII"), std::string::npos);
  write("sk one");
  EXPECT_EQ(key().find("sk one"), std::string::npos) << "the key is in no error";
  write(std::string(kMaxModelKeyBytes + 1, 'x'));
  EXPECT_EQ(key().find("xxx"), std::string::npos);
  config.key_file = directory + "/none";
  EXPECT_NE(key().find("does not exist"), std::string::npos);
}

TEST_F(ModelKeys, AreTheOutputOfACommand) {
  config.key_command = "echo sk-from-command; echo more";
  EXPECT_EQ(key(), "sk-from-command");
}

TEST_F(ModelKeys, ACommandDoesNotGetOurOwnVariables) {
  ::setenv("SHEPHERD_TOKEN", "ours", 1);
  config.key_command = "echo \"x${SHEPHERD_TOKEN}x\"";
  EXPECT_EQ(key(), "xx");
  ::unsetenv("SHEPHERD_TOKEN");
}

TEST_F(ModelKeys, SayThatTheCommandFailedAndNotWhatItPrinted) {
  config.key_command = "echo sk-secret; echo sk-secret >&2; exit 3";
  EXPECT_EQ(key(), "error: the key of model \"b\" is missing: key_command ended with 3");
}

TEST_F(ModelKeys, AreReadOnceUntilTheyAreRefused) {
  config.key_command = "echo x >> " + directory + "/runs; wc -l < " + directory + "/runs";
  auto made = make();
  std::vector<std::string> got;
  for (int i = 0; i < 3; ++i) made->get([&](Result<std::string> read) { got.push_back(*read); });
  ASSERT_TRUE(run_until([&] { return got.size() == 3; }));
  EXPECT_EQ(got, (std::vector<std::string>{"1", "1", "1"}));
  EXPECT_EQ(key_of(*made), "1");
  EXPECT_EQ(made->last(), "1");
  made->forget();
  EXPECT_EQ(made->last(), "1") << "a message of the backend can still have it";
  EXPECT_EQ(key_of(*made), "2");
}

TEST_F(ModelKeys, DestroyingOneEndsItsCommand) {
  config.key_command = "sleep 600";
  auto made = make();
  bool called = false;
  made->get([&](Result<std::string>) { called = true; });
  auto began = std::chrono::steady_clock::now();
  made.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  loop.turn(std::chrono::steady_clock::now());
  EXPECT_FALSE(called);
}

TEST_F(ModelKeys, AreInTheEnvironmentWhenTheyAreNeeded) {
  config.key_env = "LLM_KEY_TEST";
  ::unsetenv("LLM_KEY_TEST");
  auto made = make();
  EXPECT_EQ(key_of(*made), "error: the key of model \"b\" is missing: the variable LLM_KEY_TEST is empty");
  ::setenv("LLM_KEY_TEST", "sk-env", 1);
  EXPECT_EQ(key_of(*made), "sk-env");
  ::unsetenv("LLM_KEY_TEST");
  EXPECT_EQ(key_of(*made), "sk-env");
  made->forget();
  EXPECT_NE(key_of(*made).find("error"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
