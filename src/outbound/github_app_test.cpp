#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "base/clock.h"
#include "net/raw_server_for_test.h"
#include "outbound/repo_token.h"

namespace shepherd {
namespace {

class GithubAppTest : public testing::Test {
 protected:
  GithubAppTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "shepherd-app-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    EVP_PKEY* key = EVP_RSA_gen(2048);
    if (FILE* file = std::fopen((directory_ + "/key.pem").c_str(), "w")) {
      PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
      std::fclose(file);
    }
    EVP_PKEY_free(key);
    config_.github_app_id = "7";
    config_.github_app_key_file = directory_ + "/key.pem";
    config_.github_api_url = "http://127.0.0.1:" + std::to_string(github_.port()) + "/v3";
    task_.repo_url = "https://github.com/acme/auth.git";
  }
  ~GithubAppTest() override { std::filesystem::remove_all(directory_); }

  net::RawServer github_;
  std::string directory_;
  RepoTokenConfig config_;
  SystemClock clock_;
  TaskSpec task_;
};

TEST_F(GithubAppTest, AsksForTheInstallationAndThenForItsToken) {
  std::thread play([&] {
    auto peer = github_.accept();
    std::string first = peer->read_head();
    EXPECT_TRUE(first.starts_with("GET /v3/repos/acme/auth/installation HTTP/1.1\r\n")) << first;
    EXPECT_NE(first.find("Authorization: Bearer ey"), std::string::npos);
    peer->send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"id\":42}");
    EXPECT_TRUE(peer->read_head().starts_with("POST /v3/app/installations/42/access_tokens HTTP/1.1\r\n"));
    EXPECT_EQ(peer->read_until("}"), R"({"repositories":["auth"]})");
    std::string body = R"({"token":"t0","expires_at":"2030-01-01T00:00:00Z"})";
    peer->send("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n" + body + "\r\n0\r\n\r\n");
  });
  auto token = make_github_app_provider(config_, clock_)->token(task_);
  play.join();
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->token, "t0");
}

TEST_F(GithubAppTest, AServerThatStopsDoesNotWaitForGithub) {
  auto provider = make_github_app_provider(config_, clock_);
  std::thread play([&] {
    auto peer = github_.accept();
    peer->read_head();
    provider->cancel();
    EXPECT_TRUE(peer->at_end());
  });
  auto token = provider->token(task_);
  play.join();
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().reason, "token_provider_failed");
  EXPECT_FALSE(provider->token(task_)) << "later calls fail, too";
  EXPECT_TRUE(github_.nobody_connects());
}

}  // namespace
}  // namespace shepherd
