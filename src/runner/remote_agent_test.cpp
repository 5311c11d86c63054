#include "runner/remote_agent.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "process/test_agents.h"

namespace shepherd {
namespace {

TEST(RemoteAgent, AddressesAreCheckedBeforeAnybodyIsCalled) {
  for (const char* right : {"127.0.0.1:50051", "agent.example.org:443", "[::1]:1", "localhost:65535", "unix:/run/a"}) {
    EXPECT_TRUE(check_address(right)) << right;
  }
  for (const char* wrong : {"", "host", "host:", ":1", "host:0", "host:65536", "host:12x", "http://host:1", "::1:1",
                            "a b:1", "unix:", "host:99999999999"}) {
    EXPECT_FALSE(check_address(wrong)) << wrong;
  }
}

TEST(RemoteAgent, WhatStaysOnThisMachine) {
  for (const char* here : {"127.0.0.1:1", "127.8.8.8:1", "localhost:1", "[::1]:1", "unix:/run/a"}) {
    EXPECT_TRUE(is_loopback_address(here)) << here;
  }
  for (const char* there : {"10.0.0.1:1", "localhost.example:1", "[::2]:1", "agent.example.org:443"}) {
    EXPECT_FALSE(is_loopback_address(there)) << there;
  }
}

TEST(RemoteAgent, CredentialsAreReadEachTime) {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / fresh_mark();
  std::filesystem::create_directories(folder);
  auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
  RemoteAgent agent;
  agent.address = "127.0.0.1:1";
  agent.token_file = folder / "token";
  agent.ca_file = folder / "ca";
  agent.metadata = {{"x-api-key", "m1"}, {"x-team", "red"}};
  agent.traceparent = "00-1-2-01";
  EXPECT_NE(grpc_target(agent, "/m").error().message.find((folder / "ca").string()), std::string::npos);
  write("ca", "PEM");
  EXPECT_NE(grpc_target(agent, "/m").error().message.find((folder / "token").string()), std::string::npos);
  write("token", "one\nsecond line\n");
  GrpcTarget target = *grpc_target(agent, "/m");
  EXPECT_EQ(target.ca_pem, "PEM");
  std::vector<std::pair<std::string, std::string>> expected{
      {"authorization", "Bearer one"}, {"x-api-key", "m1"}, {"x-team", "red"}, {"traceparent", "00-1-2-01"}};
  EXPECT_EQ(target.metadata, expected);
  EXPECT_EQ(secrets_of(agent), (std::vector<std::string>{"one", "m1"}));
  write("token", "two\r\n");
  EXPECT_EQ(grpc_target(agent, "/m")->metadata[0].second, "Bearer two");
  for (const char* bad : {"\n", "with space\n", "tab\t\n"}) {
    write("token", bad);
    EXPECT_FALSE(grpc_target(agent, "/m")) << bad;
  }
  std::filesystem::remove_all(folder);
}

TEST(RemoteAgent, ATraceIsNewAndWellFormed) {
  SeededRandom random(7);
  std::string one = make_traceparent(random);
  EXPECT_EQ(one.size(), 55U);
  EXPECT_EQ(one.substr(0, 3), "00-");
  EXPECT_EQ(one[35], '-');
  EXPECT_EQ(one.substr(52), "-01");
  EXPECT_NE(one, make_traceparent(random));
}

}  // namespace
}  // namespace shepherd
