#include "config/config.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "config/config_file.h"
#include "config/config_keys.h"
#include "config/exposure.h"

namespace shepherd {
namespace {

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "config_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    variables_["HOME"] = directory_;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& yaml) {
    std::string path = directory_ + "/config.yaml";
    std::ofstream(path) << yaml;
    return path;
  }
  Environment environment() const {
    return [this](const char* name) {
      auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    };
  }
  std::string error_of(const std::string& yaml) {
    Result<LoadedConfig> loaded = load_config({write(yaml), {}}, environment());
    return loaded ? "no error" : loaded.error().message;
  }

  std::string directory_;
  std::map<std::string, std::string> variables_;
};

TEST_F(ConfigTest, DefaultsNeedNoFile) {
  Result<LoadedConfig> loaded = load_config({}, environment());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.public_port.listen, "127.0.0.1:8080");
  EXPECT_EQ(loaded->config.data, directory_ + "/.local/share/shepherd");
  EXPECT_EQ(loaded->config.retention_days, 30);
  EXPECT_EQ(loaded->sources.at("public.listen"), "default");
}

TEST_F(ConfigTest, EnvironmentWinsOverFileAndFlagsOverBoth) {
  std::string path = write("public:\n  listen: 127.0.0.1:1\nretention:\n  days: 1\nio_threads: 1\n");
  variables_["SHEPHERD_RETENTION_DAYS"] = "2";
  variables_["SHEPHERD_IO_THREADS"] = "2";
  Result<LoadedConfig> loaded = load_config({path, {{"io_threads", "3"}}}, environment());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.public_port.listen, "127.0.0.1:1");
  EXPECT_EQ(loaded->config.retention_days, 2);
  EXPECT_EQ(loaded->config.io_threads, 3);
  EXPECT_EQ(loaded->sources.at("public.listen"), "file " + path + ":2");
  EXPECT_EQ(loaded->sources.at("retention.days"), "SHEPHERD_RETENTION_DAYS");
  EXPECT_EQ(loaded->sources.at("io_threads"), "flag");
}

TEST_F(ConfigTest, UnknownKeyNamesLineAndNearestKey) {
  std::string message = error_of("data: /tmp/x\npublic:\n  lsten: 127.0.0.1:1\n");
  EXPECT_NE(message.find("config.yaml:3:"), std::string::npos) << message;
  EXPECT_NE(message.find("\"public.lsten\""), std::string::npos) << message;
  EXPECT_NE(message.find("did you mean \"public.listen\""), std::string::npos) << message;
}

TEST_F(ConfigTest, BadValuesSayWhereAndWhatWouldBeRight) {
  EXPECT_NE(error_of("retention:\n  days: soon\n").find(":2: \"retention.days\": \"soon\" is not a whole number"),
            std::string::npos);
  EXPECT_NE(error_of("log:\n  level: loud\n").find("debug, info, warn, error, off"), std::string::npos);
  EXPECT_NE(error_of("public:\n  listen: [a]\n").find("needs a single value"), std::string::npos);
  EXPECT_NE(error_of("public: 3\n").find("needs keys inside"), std::string::npos);
  EXPECT_NE(error_of("data: a\ndata: b\n").find(":2: \"data\" is given twice"), std::string::npos);
  EXPECT_NE(error_of("data: [\n").find("not valid YAML"), std::string::npos);
  variables_["SHEPHERD_REDACT_EMAILS"] = "maybe";
  EXPECT_NE(error_of("").find("SHEPHERD_REDACT_EMAILS"), std::string::npos);
}

TEST_F(ConfigTest, AFileThatWasNamedMustExist) {
  Result<LoadedConfig> loaded = load_config({directory_ + "/missing.yaml", {}}, environment());
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("missing.yaml"), std::string::npos);
}

TEST_F(ConfigTest, KeysOfOtherProgramsFilesWork) {
  std::string path = write(
      "claude:\n  output_format: text\n  observability:\n    enabled: false\n    buffer_size: 50\n"
      "    event_retention_days: 7\n    dashboard_port: 9000\n");
  Result<LoadedConfig> loaded = load_config({path, {}}, environment());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.claude_output_format, "text");
  EXPECT_FALSE(loaded->config.observability_enabled);
  EXPECT_EQ(loaded->config.observability_buffer_size, 50);
  EXPECT_EQ(loaded->config.retention_days, 7);
  EXPECT_EQ(loaded->config.public_port.listen, "127.0.0.1:9000");
}

TEST_F(ConfigTest, OwnKeyWinsOverABorrowedNameWhereverItStands) {
  std::string path = write("retention:\n  days: 5\nobservability:\n  event_retention_days: 7\n");
  Result<LoadedConfig> loaded = load_config({path, {}}, environment());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.retention_days, 5);
}

TEST_F(ConfigTest, ListsAndTablesFromTheEnvironment) {
  variables_["SHEPHERD_PUBLIC_HOSTS"] = "a.example, b.example";
  variables_["SHEPHERD_REDACT_PATTERNS"] = "['x{1,2}', 'it''s']";
  variables_["SHEPHERD_CONDENSE_TOOLS"] = "{Bash: 900}";
  Result<LoadedConfig> loaded = load_config({}, environment());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.public_port.hosts, (std::vector<std::string>{"a.example", "b.example"}));
  EXPECT_EQ(loaded->config.redact.patterns, (std::vector<std::string>{"x{1,2}", "it's"}));
  EXPECT_EQ(loaded->config.condense.by_tool.at("Bash"), 900u);
}

TEST_F(ConfigTest, PrintedYamlReadsBackToTheSameSettings) {
  ConfigInputs inputs{"",
                      {{"public.listen", "[::1]:0"},
                       {"redact.patterns", "['a\\d+', 'it''s: #1']"},
                       {"condense.tools", "{Bash: 1, 'odd: name': 2}"},
                       {"public.tls.cert", "/a path/cert.pem"},
                       {"retention.bytes", "123"}}};
  Result<LoadedConfig> first = load_config(inputs, environment());
  ASSERT_TRUE(first) << first.error().message;
  Result<LoadedConfig> second = load_config({write(config_as_yaml(*first)), {}}, environment());
  ASSERT_TRUE(second) << second.error().message << "\n" << config_as_yaml(*first);
  for (const ConfigKey& key : config_keys()) {
    EXPECT_EQ(key.get(first->config), key.get(second->config)) << key.name;
  }
}

TEST_F(ConfigTest, ExposureNeedsExplicitWords) {
  auto refused = [](std::vector<std::pair<std::string, std::string>> settings) {
    Config config;
    for (const auto& [key, value] : settings) {
      EXPECT_TRUE(find_config_key(key)->set(config, KeyValue(value))) << key;
    }
    Result<void> checked = check_exposure(config);
    return checked ? std::string() : checked.error().reason;
  };
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({{"public.listen", "0.0.0.0:8080"}}), "exposed");
  EXPECT_EQ(refused({{"public.listen", "0.0.0.0:8080"}, {"insecure_bind", "true"}}), "");
  EXPECT_EQ(refused({{"public.listen", "0.0.0.0:1"}, {"public.tls.cert", "c"}, {"public.tls.key", "k"}}), "");
  EXPECT_EQ(refused({{"public.tls.cert", "c"}}), "half_tls");
  EXPECT_EQ(refused({{"public.auth", "none"}}), "");
  EXPECT_EQ(refused({{"public.auth", "none"}, {"public.listen", "0.0.0.0:1"}, {"insecure_bind", "true"}}), "exposed");
  EXPECT_EQ(refused({{"internal.auth", "none"}, {"internal.listen", "10.0.0.1:1"}, {"insecure_bind", "true"}}),
            "exposed");
  EXPECT_EQ(refused({{"internal.auth", "none"},
                     {"internal.listen", "10.0.0.1:1"},
                     {"insecure_bind", "true"},
                     {"internal.trusted_network", "true"}}),
            "");
  EXPECT_FALSE(is_loopback("127.evil.example:80"));
  EXPECT_TRUE(is_loopback("[::1]:0"));
}

}  // namespace
}  // namespace shepherd
