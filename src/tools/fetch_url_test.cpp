#include "tools/fetch_url.h"

#include <gtest/gtest.h>

#include "json/write.h"
#include "net/server_for_test.h"
#include "tools/limits.h"
#include "tools/page_text.h"
#include "tools/public_address.h"
#include "tools/tools_for_test.h"

namespace shepherd {
namespace {

class FetchUrlTool : public ::testing::Test {
 protected:
  FetchUrlTool() {
    world.settings.fetch_private = true;
    server.handler.on_request = [this](net::Request&& request, net::Responder responder) {
      responder.send(answer(request));
    };
    server.start();
    base = server.server->url();
  }
  ToolOutcome fetch(const std::string& url) {
    return world.call("fetch_url", object_text([&](JsonObject& object) { object.text("url", url); }));
  }
  net::Response answer(const net::Request& request) {
    if (request.target == "/page")
      return {200, "text/html; charset=utf-8", {}, "<h1>Hello</h1><p>World &amp; all</p>", false};
    if (request.target == "/json") return {200, "application/json", {}, R"({"a":1})", false};
    if (request.target == "/image") return {200, "image/png", {}, "PNG", false};
    if (request.target == "/gzip") return {200, "text/plain", {{"Content-Encoding", "gzip"}}, "xx", false};
    if (request.target == "/missing") return {404, "text/plain", {}, "not here", false};
    if (request.target == "/empty") return {204, "", {}, "", false};
    if (request.target == "/big") return {200, "text/plain", {}, std::string(kMaxFetchedBytes + 10, 'x'), false};
    if (request.target == "/to-page") return {302, "text/plain", {{"Location", "/page"}}, "moved", false};
    if (request.target == "/dir/relative") return {307, "text/plain", {{"Location", "../page"}}, "", false};
    if (request.target == "/loop") return {301, "text/plain", {{"Location", "/loop"}}, "", false};
    if (request.target == "/other") return {302, "text/plain", {{"Location", "http://elsewhere.example/x"}}, "", false};
    if (request.target == "/file") return {302, "text/plain", {{"Location", "file:///etc/passwd"}}, "", false};
    if (request.target == "/loopback") return {302, "text/plain", {{"Location", "http://127.0.0.1:1/"}}, "", false};
    return {200, "text/plain", {}, request.target + " " + std::string(request.header("accept-encoding")), false};
  }

  ToolWorld world;
  net::TestServer server;
  std::string base;
};

TEST_F(FetchUrlTool, GivesPagesAsText) {
  ToolOutcome page = fetch(base + "/page");
  EXPECT_TRUE(page.success) << page.content;
  EXPECT_EQ(page.content, "# Hello\n\nWorld & all");
  EXPECT_TRUE(page.summary.starts_with("200 http://127.0.0.1:")) << page.summary;
  EXPECT_EQ(fetch(base + "/json").content, R"({"a":1})");
  EXPECT_EQ(fetch(base + "/any?q=1#part").content, "/any?q=1 identity");
  EXPECT_EQ(fetch(base + "/empty").content, "[The page is empty.]");
}

TEST_F(FetchUrlTool, RefusesWhatIsNoText) {
  ToolOutcome image = fetch(base + "/image");
  EXPECT_FALSE(image.success);
  EXPECT_NE(image.content.find("is no text but image/png"), std::string::npos) << image.content;
  EXPECT_FALSE(fetch(base + "/gzip").success);
  ToolOutcome missing = fetch(base + "/missing");
  EXPECT_FALSE(missing.success);
  EXPECT_TRUE(missing.content.ends_with("answered with status 404.\nnot here")) << missing.content;
}

TEST_F(FetchUrlTool, CutsLongPages) {
  ToolOutcome big = fetch(base + "/big");
  EXPECT_TRUE(big.success);
  EXPECT_LE(big.content.size(), kMaxToolResultBytes);
  EXPECT_TRUE(big.content.ends_with("x\n[The rest of the page is left out.]"))
      << big.content.substr(big.content.size() - 50);
}

TEST_F(FetchUrlTool, FollowsRedirectsOfTheSameHostOnly) {
  EXPECT_EQ(fetch(base + "/to-page").content, "# Hello\n\nWorld & all");
  EXPECT_TRUE(fetch(base + "/dir/relative").success);
  ToolOutcome loop = fetch(base + "/loop");
  EXPECT_FALSE(loop.success);
  EXPECT_EQ(loop.content, "Error: more than 5 redirects.");
  ToolOutcome other = fetch(base + "/other");
  EXPECT_NE(other.content.find("redirects to http://elsewhere.example/x, which is another server"), std::string::npos)
      << other.content;
  EXPECT_NE(fetch(base + "/loopback").content.find("which is another server"), std::string::npos);
  EXPECT_FALSE(fetch(base + "/file").success);
}

TEST_F(FetchUrlTool, RefusesPrivateAddresses) {
  world.settings.fetch_private = false;
  std::string port = base.substr(base.rfind(':'));
  std::vector<std::string> urls{"http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/"};
  for (const char* host :
       {"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1", "2130706433", "0x7f.1"}) {
    urls.push_back("http://" + std::string(host) + port + "/page");
  }
  for (const std::string& url : urls) {
    ToolOutcome outcome = fetch(url);
    EXPECT_FALSE(outcome.success) << url;
    EXPECT_EQ(outcome.content.find("Hello"), std::string::npos) << url;
    EXPECT_NE(outcome.content.find("private network"), std::string::npos) << url << ": " << outcome.content;
  }
}

TEST_F(FetchUrlTool, RefusesOtherAddresses) {
  for (const char* url :
       {"", "ftp://example.org/", "file:///etc/passwd", "example.org", "http://", "ws://127.0.0.1/",
        "http://user:pw@127.0.0.1/", "http://127.0.0.1:99999/", "http://127.0.0.1/a b", "javascript:alert(1)"}) {
    EXPECT_FALSE(fetch(url).success) << url;
  }
  EXPECT_FALSE(fetch("http://127.0.0.1/" + std::string(kMaxFetchedUrlBytes, 'x')).success);
}

TEST_F(FetchUrlTool, HasARuleForAHost) {
  ASSERT_TRUE(world.open());
  auto rule = [&](const std::string& url) { return world.tools->rule_of("fetch_url", R"({"url":")" + url + "\"}"); };
  EXPECT_EQ(rule("https://Docs.Example.org/a?b"), "fetch_url(docs.example.org)");
  EXPECT_EQ(rule("http://example.org:8080/"), "fetch_url(example.org:8080)");
  EXPECT_EQ(rule("http://example.org.evil.test/"), "fetch_url(example.org.evil.test)");
  EXPECT_EQ(rule("nonsense"), "fetch_url(\"nonsense\")");
  EXPECT_EQ(world.tools->describe("fetch_url", R"({"url":"http://a/b"})"), "Fetches http://a/b");
}

TEST_F(FetchUrlTool, CancelledStops) {
  ASSERT_TRUE(world.open());
  int answers = 0;
  for (int turns = 0; turns < 40; ++turns) {
    auto run = world.tools->start({"s", "c", "fetch_url", R"({"url":")" + base + R"(/to-page"})"},
                                  [&](ToolOutcome) { ++answers; }, {});
    for (int i = 0; i < turns && answers == 0; ++i)
      world.loop.turn(std::chrono::steady_clock::now() + std::chrono::microseconds(200));
    run.reset();
    if (answers > 0) break;
  }
  int before = answers;
  world.loop.turn(std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
  EXPECT_EQ(answers, before);
}

TEST(PublicAddress, IsOnThePublicInternet) {
  for (const char* address :
       {"8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "223.255.255.255",
        "2606:4700::1111", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"}) {
    EXPECT_TRUE(is_public_address(address)) << address;
  }
  for (const char* address : {"127.0.0.1",
                              "127.255.255.255",
                              "10.1.2.3",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.168.1.1",
                              "169.254.169.254",
                              "100.64.0.1",
                              "100.100.100.200",
                              "0.0.0.0",
                              "0.1.2.3",
                              "192.0.0.192",
                              "192.0.2.1",
                              "198.18.0.1",
                              "198.51.100.1",
                              "203.0.113.1",
                              "224.0.0.1",
                              "240.0.0.1",
                              "255.255.255.255",
                              "168.63.129.16",
                              "::",
                              "::1",
                              "::127.0.0.1",
                              "::ffff:127.0.0.1",
                              "::ffff:10.0.0.1",
                              "64:ff9b::7f00:1",
                              "64:ff9b:1::1",
                              "2002:7f00:1::",
                              "2001::1",
                              "2001:db8::1",
                              "fc00::1",
                              "fd00:ec2::254",
                              "fe80::1",
                              "fe80::1%eth0",
                              "fec0::1",
                              "ff02::1",
                              "100::1",
                              "3fff::1",
                              "",
                              "example.org",
                              "8.8.8",
                              "8.8.8.8 "}) {
    EXPECT_FALSE(is_public_address(address)) << address;
  }
}

TEST(PageText, OfHtml) {
  EXPECT_EQ(html_text("<html><head><title>A title</title><style>p{}</style><script>if (a<b) x('</p>');</script></head>"
                      "<body><!-- no --><h2>Head</h2><p>One  two\n three<br>four</p><ul><li>a<li>b</ul><p>x<a "
                      "href=\"/y?a=1&amp;b=2\">link</a>"
                      "<a href='#top'>up</a><a name=x>n</a></p></body></html>"),
            "A title\n\n## Head\n\nOne two three\nfour\n\n- a\n- b\n\nx[link](/y?a=1&b=2)upn");
  EXPECT_EQ(html_text("<pre>a\n  b &lt;c&gt;</pre>after"), "```\na\n  b <c>\n\n```\nafter");
  EXPECT_EQ(html_text("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>"), "a | b |\nc |");
  EXPECT_EQ(html_text("1 < 2 &amp; 3 &unknown; &#65;&#x42;&#xD800; &nbsp; x"), "1 < 2 & 3 &unknown; AB\xEF\xBF\xBD x");
  EXPECT_EQ(html_text("<p title=\"a>b\">x</p"), "x");
  EXPECT_EQ(html_text("<script>never ends"), "");
  EXPECT_EQ(html_text("a<!-- never ends"), "a");
  EXPECT_EQ(html_text("<a href=\"javascript:x\">a</a><a href=\"y\"></a>"), "a");
  EXPECT_EQ(html_text("<"), "<");
  EXPECT_EQ(html_text(""), "");
}

// The time of a hostile page grows with its length: ten times as long takes about ten times, not a hundred times.
TEST(PageText, IsLinear) {
  for (const char* piece : {"<", "<a", "<a href=\"", "</script", "<script>", "<!--", "&", "&#", "<p>", "<p ", "[",
                            "<a href=x>", "<pre>", "<svg></"}) {
    std::string page;
    while (page.size() < kMaxFetchedBytes) page += piece;
    auto began = std::chrono::steady_clock::now();
    html_text(page);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10)) << piece;
  }
}

TEST(PageText, KnowsTypes) {
  for (const char* type : {"text/plain", "TEXT/HTML; charset=x", "application/json", "application/problem+json",
                           "image/svg+xml", "application/x-ndjson", ""}) {
    EXPECT_TRUE(is_text_type(type, "x")) << type;
    EXPECT_FALSE(is_text_type(type, std::string_view("x\0", 2))) << type;
  }
  for (const char* type :
       {"image/png", "application/octet-stream", "application/pdf", "application/zip", "video/mp4"}) {
    EXPECT_FALSE(is_text_type(type, "x")) << type;
  }
  EXPECT_TRUE(is_html_type("", "\n<!DOCTYPE html><p>"));
  EXPECT_FALSE(is_html_type("text/plain", "<html>"));
  EXPECT_EQ(decoded_body("text/plain; charset=ISO-8859-1", "\xE4"), "\xC3\xA4");
  EXPECT_EQ(decoded_body("text/plain; charset=\"utf-8\"", "\xEF\xBB\xBF\xC3\xA4\xE4"), "\xC3\xA4\xEF\xBF\xBD");
}

}  // namespace
}  // namespace shepherd
