#include "net/proxy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "net/certificate_for_test.h"
#include "net/http_call.h"
#include "net/raw_server_for_test.h"
#include "net/server_for_test.h"

namespace shepherd::net {
namespace {

using std::chrono::milliseconds;

ProxyRules rules(std::map<std::string, std::string> variables) {
  return ProxyRules([variables = std::move(variables)](const char* name) {
    auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

// The proxy's host and port; "" for none, the error's reason otherwise.
std::string found(const ProxyRules& rules, std::string_view url) {
  auto proxy = rules.find(*parse_url(url));
  if (!proxy) return proxy.error().reason;
  return *proxy ? host_and_port((*proxy)->url) : "";
}

TEST(ProxyRules, ChoosesByScheme) {
  ProxyRules both = rules({{"http_proxy", "http://plain:3128"}, {"https_proxy", "secure:3129/"}});
  EXPECT_EQ(found(both, "http://example.org/"), "plain:3128");
  EXPECT_EQ(found(both, "ws://example.org/"), "plain:3128");
  EXPECT_EQ(found(both, "https://example.org/"), "secure:3129");
  EXPECT_EQ(found(rules({{"HTTPS_PROXY", "http://upper:1"}}), "https://example.org/"), "upper:1");
  EXPECT_EQ(found(rules({{"HTTP_PROXY", "http://upper:1"}}), "http://example.org/"), "");
  EXPECT_EQ(found(rules({}), "http://example.org/"), "");
}

TEST(ProxyRules, LoopbackIsAlwaysDirect) {
  ProxyRules all = rules({{"http_proxy", "http://p:1"}});
  for (const char* url : {"http://127.0.0.1/", "http://127.9.9.9/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
                          "http://localhost/", "http://shepherd.localhost:8080/", "http://LOCALHOST./"}) {
    EXPECT_EQ(found(all, url), "") << url;
  }
  EXPECT_EQ(found(all, "http://localhost.example.org/"), "p:1");
  EXPECT_EQ(found(all, "http://128.0.0.1/"), "p:1");
}

TEST(ProxyRules, KeepsToNoProxy) {
  ProxyRules some =
      rules({{"http_proxy", "http://p:1"},
             {"NO_PROXY", "example.org, .inner ,10.0.0.0/8,192.168.1.1,with.port:8080,*.star,[2001:db8::1]"}});
  for (const char* url :
       {"http://example.org/", "http://EXAMPLE.org/", "http://a.example.org/", "http://x.inner/", "http://10.200.3.4/",
        "http://192.168.1.1:99/", "http://with.port:8080/", "http://a.star/", "http://[2001:db8::1]/"}) {
    EXPECT_EQ(found(some, url), "") << url;
  }
  for (const char* url : {"http://notexample.org/", "http://example.org.evil/", "http://11.0.0.1/",
                          "http://192.168.1.2/", "http://with.port/", "http://[2001:db8::2]/"}) {
    EXPECT_EQ(found(some, url), "p:1") << url;
  }
  EXPECT_EQ(found(rules({{"http_proxy", "http://p:1"}, {"no_proxy", "*"}}), "http://example.org/"), "");
}

TEST(ProxyRules, AnUnusableProxyIsAnErrorNotADetour) {
  for (const char* proxy : {"https://p:1", "socks5://p:1", "http://", "http://p:port"}) {
    EXPECT_EQ(found(rules({{"http_proxy", proxy}}), "http://example.org/"), "bad_proxy") << proxy;
  }
  auto error = rules({{"http_proxy", "http://joe:secret@p:port"}}).find(*parse_url("http://example.org/"));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message.find("secret"), std::string::npos);
}

class Answer final : public CallObserver {
 public:
  void on_head(ResponseHead&& head) override { status = head.status; }
  void on_body(std::string_view piece) override { body += piece; }
  void on_end(Result<void> result) override {
    end = std::move(result);
    ended = true;
  }
  int status = 0;
  std::string body;
  std::optional<Result<void>> end;
  std::atomic<bool> ended = false;  // for the thread that plays the proxy
};

class ProxiedCall : public ::testing::Test {
 protected:
  // Calls through `proxy`, which `play` plays.
  template <class Play>
  void call(const std::string& url, Play play, AddressRule allowed = {}, const std::string& ca_file = "") {
    std::string address = "http://joe:pa%3Ass@127.0.0.1:" + std::to_string(proxy.port());
    HttpCaller caller(loop, {.tls = {ca_file, false},
                             .allowed = std::move(allowed),
                             .proxies = rules({{"http_proxy", address}, {"https_proxy", address}})});
    CallRequest request;
    request.url = *parse_url(url);
    HttpCall handle = caller.start(std::move(request), answer);
    std::atomic<bool> played = false;
    std::thread thread([&] {
      play();
      played = true;
      loop.post([] {});
    });
    auto until = std::chrono::steady_clock::now() + kTestPatience;
    while ((!played || !answer.end) && std::chrono::steady_clock::now() < until) {
      loop.turn(std::chrono::steady_clock::now() + milliseconds(20));
    }
    thread.join();
    ASSERT_TRUE(answer.end);
  }

  EventLoop loop;
  RawServer proxy;
  Answer answer;
};

const std::string kCredentials = "Proxy-Authorization: Basic am9lOnBhOnNz\r\n";  // joe:pa:ss

TEST_F(ProxiedCall, APlainRequestNamesItsOrigin) {
  call("http://example.test:81/a?b", [&] {
    auto peer = proxy.accept();
    std::string head = peer->read_head();
    EXPECT_TRUE(head.starts_with("GET http://example.test:81/a?b HTTP/1.1\r\n")) << head;
    EXPECT_NE(head.find("Host: example.test:81\r\n"), std::string::npos);
    EXPECT_NE(head.find(kCredentials), std::string::npos);
    peer->send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere");
  });
  EXPECT_TRUE(*answer.end);
  EXPECT_EQ(answer.body, "here");
}

TEST_F(ProxiedCall, TlsGoesThroughATunnel) {
  CertificateForTest certificate("example.test");
  TestServer test;
  test.options.tls = certificate.files();
  test.start();
  call(
      "https://example.test/x",
      [&] {
        auto peer = proxy.accept();
        EXPECT_EQ(peer->read_head(),
                  "CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n" + kCredentials + "\r\n");
        RawClient server(test.server->port());
        peer->send("HTTP/1.1 200 Connected\r\n\r\n");
        char bytes[16'384];
        while (!answer.ended) {
          pollfd ready[2] = {{peer->fd(), POLLIN, 0}, {server.fd(), POLLIN, 0}};
          ::poll(ready, 2, 20);
          for (int i = 0; i < 2; ++i) {
            if (ready[i].revents == 0) continue;
            ssize_t got = ::recv(ready[i].fd, bytes, sizeof bytes, 0);
            if (got <= 0) return;
            ::send(ready[1 - i].fd, bytes, static_cast<std::size_t>(got), MSG_NOSIGNAL);
          }
        }
      },
      {}, certificate.files().certificate);
  ASSERT_TRUE(*answer.end) << answer.end->error().message;
  EXPECT_EQ(answer.body, "GET /x ");
}

TEST_F(ProxiedCall, ARefusedTunnelSaysWho) {
  call("https://example.test/", [&] {
    auto peer = proxy.accept();
    peer->read_head();
    peer->send("HTTP/1.1 407 Who Are You\r\nContent-Length: 0\r\n\r\n");
  });
  ASSERT_FALSE(*answer.end);
  EXPECT_EQ(answer.end->error().reason, "proxy_refused");
  EXPECT_NE(answer.end->error().message.find("127.0.0.1:" + std::to_string(proxy.port())), std::string::npos);
}

// The proxy would look the name up itself, and might find another address than the one that was checked.
TEST_F(ProxiedCall, AnAddressThatWasCheckedIsTheOneTheTunnelGoesTo) {
  call(
      "http://3221225985/",  // resolvers take it for 192.0.2.1
      [&] {
        auto peer = proxy.accept();
        EXPECT_TRUE(peer->read_head().starts_with("CONNECT 192.0.2.1:80 HTTP/1.1\r\n"));
        peer->send("HTTP/1.1 200 Connected\r\n\r\n");
        EXPECT_TRUE(peer->read_head().starts_with("GET / HTTP/1.1\r\n"));
        peer->send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      },
      [](std::string_view address) { return address == "192.0.2.1"; });
  EXPECT_TRUE(*answer.end);
}

TEST_F(ProxiedCall, ARefusedAddressIsNotForwardedEither) {
  call("http://2852039166/", [] {}, [](std::string_view address) { return address != "169.254.169.254"; });
  ASSERT_FALSE(*answer.end);
  EXPECT_EQ(answer.end->error().reason, "refused_address");
  EXPECT_TRUE(proxy.nobody_connects());
}

}  // namespace
}  // namespace shepherd::net
