#include "outbound/post_callback.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

#include "net/server.h"
#include "outbound/callback_target.h"
#include "outbound/limits.h"

namespace shepherd {
namespace {

TEST(CallbackTarget, WhereCallbacksMayGo) {
  for (const char* url :
       {"http://127.0.0.1:9/x", "https://example.com", "http://10.1.2.3/", "http://[::1]/", "http://[2001:db8::1]/"}) {
    EXPECT_TRUE(callback_target(url)) << url;
  }
  for (const char* url :
       {"http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::a9fe:a9fe]/",
        "http://[64:ff9b:1:fffe::1]/", "http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://0.0.0.0/",
        "http://[::]/", "http://224.0.0.1/", "http://168.63.129.16/", "ftp://example.com/", "example.com",
        "ws://example.com/", "http://user:pw@example.com/"}) {
    auto target = callback_target(url);
    ASSERT_FALSE(target) << url;
    EXPECT_EQ(target.error().reason, "bad_callback_url");
  }
  EXPECT_FALSE(callback_target("http://example.com/" + std::string(kMaxUrlBytes, 'a')));
}

// A poster on an event loop, and a raw listener.
class HttpPosterTest : public testing::Test {
 protected:
  HttpPosterTest() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* name = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, name, size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, name, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/done";
  }
  ~HttpPosterTest() override { ::close(listener_); }

  std::future<Result<int>> post(const std::string& url) {
    auto answer = std::make_shared<std::promise<Result<int>>>();
    poster_.post({*net::parse_url(url), {}, "{}"},
                 [answer](Result<int> status) { answer->set_value(std::move(status)); });
    return answer->get_future();
  }

  int listener_ = -1;
  std::string url_;
  net::IoThreads io_{1};
  HttpPoster poster_{io_.loop(0)};
};

TEST_F(HttpPosterTest, AsksAgainWhatANameStandsFor) {
  // Resolvers accept an address as one number: this one is 169.254.169.254.
  auto answer = post("http://2852039166/").get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, "refused_address");
}

// An answer longer than the limit still counts as accepted.
TEST_F(HttpPosterTest, AGoodAnswerIsGoodHoweverLongItIs) {
  for (const std::string& head : {std::string("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n"),
                                  std::string("HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n")}) {
    std::thread receiver([&] {
      int connection = ::accept(listener_, nullptr, nullptr);
      char bytes[4096];
      EXPECT_GT(::recv(connection, bytes, sizeof bytes, 0), 0);
      std::string answer = head + std::string(3'000'000, 'x');
      std::string_view rest = answer;
      while (!rest.empty()) {
        ssize_t sent = ::send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(sent));
      }
      ::close(connection);
    });
    auto answer = post(url_).get();
    receiver.join();
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer / 100, 2);
  }
}

// A receiver that accepts connections and never answers.
TEST_F(HttpPosterTest, IsCutOffInTheMiddle) {
  auto answer = post(url_);
  int connection = ::accept(listener_, nullptr, nullptr);
  char byte = 0;
  EXPECT_EQ(::recv(connection, &byte, 1, 0), 1) << "the request is on its way";
  poster_.stop();
  while (::recv(connection, &byte, 1, 0) > 0) {
  }
  ::close(connection);
  EXPECT_THROW(answer.get(), std::future_error) << "it is not answered any more";
}

}  // namespace
}  // namespace shepherd
