// Tests for the small pure parts: cursors, queries, credentials, host and origin, accepted codings, problem details,
// snippets.
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <random>

#include "api/accept_encoding.h"
#include "api/credentials.h"
#include "api/host_check.h"
#include "api/problem.h"
#include "api/query.h"
#include "api/snippet.h"
#include "api/status_map.h"
#include "journal/cursor.h"

namespace shepherd {
namespace {

TEST(Cursor, ComesBackAsItWasGiven) {
  unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    std::uint64_t position = random() >> (1 + random() % 63);
    auto decoded = decode_cursor(encode_cursor(position));
    ASSERT_TRUE(decoded) << position;
    EXPECT_EQ(*decoded, position);
  }
  EXPECT_EQ(*decode_cursor("0"), 0U);
  EXPECT_EQ(*decode_cursor(encode_cursor(INT64_MAX)), static_cast<std::uint64_t>(INT64_MAX));
}

TEST(Cursor, RefusesWhatItDidNotMake) {
  for (const char* text :
       {"", "1", "-1", "p", "pAB", "q5", "p5!", "p__________________", "p___________", "P5", " p5"}) {
    EXPECT_FALSE(decode_cursor(text)) << text;
  }
}

Query query(std::string_view text) {
  return *Query::parse(text);
}

TEST(QueryNumbers, AreReadStrictly) {
  EXPECT_EQ(**query("after=17").number("after"), 17U);
  EXPECT_EQ(*query("").number("after"), std::nullopt);
  EXPECT_EQ(*query("after=").number("after"), std::nullopt);
  EXPECT_EQ(**query("after=9223372036854775807").number("after"), 9223372036854775807U);
  for (const char* text :
       {"-1", "1.5", "+1", "1e3", "9223372036854775808", "99999999999999999999999", "abc", "1%00", "0x1"}) {
    auto parsed = Query::parse("after=" + std::string(text));
    if (!parsed) continue;
    auto number = parsed->number("after");
    ASSERT_FALSE(number) << text;
    EXPECT_EQ(number.error().reason, "bad_parameter");
    EXPECT_EQ(std::get<std::string>(number.error().fields.at(0).value), "after");
  }
}

TEST(QueryNumbers, LimitsAreCappedAndNeverZero) {
  EXPECT_EQ(*query("").limit(500, 5000), 500U);
  EXPECT_EQ(*query("limit=7").limit(500, 5000), 7U);
  EXPECT_EQ(*query("limit=999999").limit(500, 5000), 5000U);
  EXPECT_FALSE(query("limit=0").limit(500, 5000));
}

TEST(QueryText, DecodesAndEncodesAgain) {
  Query q = query("q=a%20b+c&label=x%3D1&label=y:2&before=old&ticket=secret&token=secret");
  EXPECT_EQ(*q.text("q"), "a b c");
  EXPECT_EQ(q.all("label"), (std::vector<std::string_view>{"x=1", "y:2"}));
  EXPECT_EQ(q.with("before", "n w"), "q=a%20b%20c&label=x%3D1&label=y%3A2&before=n%20w");
  EXPECT_FALSE(Query::parse("a=%zz"));
  EXPECT_FALSE(Query::parse("a=%00"));
}

TEST(QueryLists, TypesAndTasks) {
  TypeFilter types = *query("types=log,tool_call,my_own").types();
  EXPECT_EQ(types.known, mask_of(EventType::log) | mask_of(EventType::tool_call));
  EXPECT_EQ(types.unknown, std::vector<std::string>{"my_own"});
  EXPECT_TRUE(query("").types()->everything());
  EXPECT_EQ(**query("tasks=a,b").tasks(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(*query("x=1").tasks(), std::nullopt);
  EXPECT_FALSE(query("tasks=a,b%2Fc").tasks());
}

net::Request with_headers(std::vector<std::pair<std::string, std::string>> headers, std::string method = "GET",
                          std::string target = "/x") {
  net::Request made;
  made.method = std::move(method);
  made.target = std::move(target);
  made.headers = std::move(headers);
  return made;
}

TEST(Credentials, AreFoundWhereClientsPutThem) {
  auto found = find_credential(with_headers({{"authorization", "bearer  abc "}}), {});
  EXPECT_EQ(found.kind, CredentialKind::bearer);
  EXPECT_EQ(found.secret, "abc");
  EXPECT_EQ(find_credential(with_headers({{"authorization", "Basic abc"}}), {}).secret, "");
  EXPECT_EQ(find_credential(with_headers({{"authorization", "Basic abc"}}), {}).kind, CredentialKind::bearer);

  auto cookie = find_credential(with_headers({{"cookie", "a=b; shepherd_session=s3cret; c=d"}}), {});
  EXPECT_EQ(cookie.kind, CredentialKind::cookie);
  EXPECT_EQ(cookie.secret, "s3cret");
  EXPECT_EQ(find_credential(with_headers({{"cookie", "xshepherd_session=s"}}), {}).kind, CredentialKind::none);

  net::Request socket = with_headers({{"sec-websocket-protocol", "shepherd.v1, bearer.c2hwX2FiYw"}});
  EXPECT_EQ(find_credential(socket, {}).kind, CredentialKind::none) << "only on an upgrade";
  socket.is_websocket = true;
  EXPECT_EQ(find_credential(socket, {}).secret, "shp_abc");
  EXPECT_TRUE(offers_subprotocol(socket));
  EXPECT_FALSE(offers_subprotocol(with_headers({{"sec-websocket-protocol", "other"}})));
}

TEST(Credentials, QueryParametersNeedPermission) {
  net::Request get = with_headers({}, "GET", "/x?ticket=t1&token=t2");
  EXPECT_EQ(find_credential(get, {}).kind, CredentialKind::none);
  EXPECT_EQ(find_credential(get, {.stream = true}).secret, "t1");
  EXPECT_EQ(find_credential(get, {.token_parameter = true}).secret, "t2");
  get.method = "POST";
  EXPECT_EQ(find_credential(get, {.stream = true, .token_parameter = true}).kind, CredentialKind::none);
}

TEST(HostCheck, BelievesAddressesLoopbackAndConfiguredNames) {
  ListenerConfig config;
  config.hosts = {"tower.example.com"};
  for (const char* host : {"127.0.0.1:8080", "localhost", "LocalHost:1", "app.localhost:8080", "[::1]:8080", "10.0.0.7",
                           "tower.example.com", "Tower.example.com:8443"}) {
    EXPECT_TRUE(check_host(with_headers({{"host", host}}), config)) << host;
  }
  for (const char* host :
       {"evil.com", "localhost.evil.com", "127.0.0.1.evil.com", "xlocalhost", "[::1", "tower.example.co"}) {
    auto checked = check_host(with_headers({{"host", host}}), config);
    ASSERT_FALSE(checked) << host;
    EXPECT_EQ(checked.error().reason, "bad_host");
  }
  config.any_host = true;
  EXPECT_TRUE(check_host(with_headers({{"host", "shepherd.svc"}}), config));
}

TEST(OriginCheck, OursOrConfigured) {
  ListenerConfig config;
  config.origins = {"https://dash.example.com"};
  auto check = [&](std::vector<std::pair<std::string, std::string>> headers, OriginRule rule) {
    headers.emplace_back("host", "localhost:8080");
    return check_origin(with_headers(std::move(headers)), config, rule).has_value();
  };
  EXPECT_TRUE(check({}, OriginRule::if_sent));
  EXPECT_FALSE(check({}, OriginRule::required));
  EXPECT_TRUE(check({{"sec-fetch-site", "same-origin"}}, OriginRule::required));
  EXPECT_FALSE(check({{"sec-fetch-site", "cross-site"}}, OriginRule::required));
  for (OriginRule rule : {OriginRule::if_sent, OriginRule::required}) {
    EXPECT_TRUE(check({{"origin", "http://localhost:8080"}}, rule));
    EXPECT_TRUE(check({{"origin", "https://dash.example.com"}}, rule));
    EXPECT_FALSE(check({{"origin", "http://localhost:8081"}}, rule));
    EXPECT_FALSE(check({{"origin", "http://evil.com"}}, rule));
    EXPECT_FALSE(check({{"origin", "null"}}, rule));
  }
}

TEST(OriginCheck, ChatsMayBeSharedWithListedOriginsOnly) {
  ListenerConfig config;
  config.chat_origins = {"https://chat.example.com"};
  auto shared = [&](std::vector<std::pair<std::string, std::string>> headers) {
    return std::string(chat_origin(with_headers(std::move(headers)), config));
  };
  EXPECT_EQ(shared({{"origin", "https://chat.example.com"}}), "https://chat.example.com");
  for (const char* other :
       {"http://chat.example.com", "https://chat.example.com:8443", "https://evil.com", "null", "*"}) {
    EXPECT_EQ(shared({{"origin", other}}), "") << other;
  }
  EXPECT_EQ(shared({}), "");
  // The rest of the API, and what a cookie allows, are not theirs.
  EXPECT_FALSE(check_origin(with_headers({{"origin", "https://chat.example.com"}, {"host", "localhost"}}), config,
                            OriginRule::if_sent));
}

TEST(Problem, IsRfc9457WithTheOlderErrorMember) {
  Error error{ErrorCode::conflict, "sequence_hole", "Say \"what\" to do.", {}};
  net::Response response = problem(std::move(error).with("expectedSequence", 7).with("currentState", "failed"));
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body,
            R"({"type":"about:blank","title":"Conflict","status":409,"detail":"Say \"what\" to do.",)"
            R"("code":"sequence_hole","error":"Say \"what\" to do.","expectedSequence":7,"currentState":"failed"})");
}

TEST(Problem, SaysWhenToComeBackAndHowToAuthenticate) {
  auto header = [](const net::Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return std::string("none");
  };
  EXPECT_EQ(header(problem({ErrorCode::unavailable, "busy", "", {}}), "Retry-After"), "1");
  EXPECT_EQ(header(problem(Error{ErrorCode::rate_limited, "x", "", {}}.with("retryAfterSeconds", 42)), "Retry-After"),
            "42");
  EXPECT_EQ(header(problem({ErrorCode::not_found, "x", "", {}}), "Retry-After"), "none");
  EXPECT_NE(header(problem({ErrorCode::unauthenticated, "x", "", {}}), "WWW-Authenticate"), "none");
}

TEST(StatusMap, EveryCodeHasAStatusAndACloseCodeThatSaysWhetherToReconnect) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    auto code = static_cast<ErrorCode>(i);
    EXPECT_GE(http_status(code), 400);
    EXPECT_NE(status_title(http_status(code)), "Error") << http_status(code);
    EXPECT_GE(close_code(code), 4000);
    if (retryable(code)) {
      EXPECT_LT(close_code(code), 4100) << name(code);
    }
  }
}

TEST(Snippet, ShowsTheWordAndNeverCutsACharacter) {
  EXPECT_EQ(snippet("short text", "text"), "short text");
  std::string text;
  for (int i = 0; i < 50; ++i) text += "füllung ";
  text += "the Needle is here ";
  for (int i = 0; i < 50; ++i) text += "füllung ";
  std::string cut = snippet(text, "-haystack OR \"needle is\"");
  EXPECT_NE(cut.find("Needle is here"), std::string::npos) << cut;
  EXPECT_TRUE(cut.starts_with("…"));
  EXPECT_TRUE(cut.ends_with("…"));
  for (std::size_t lead = 0; lead < 8; ++lead) {
    std::string shifted = snippet(std::string(lead, 'x') + text, "needle");
    EXPECT_EQ(shifted.find("\xef\xbf\xbd"), std::string::npos);
    for (std::size_t i = 0; i < shifted.size(); ++i) {  // every lead byte has its continuation
      if (shifted[i] == '\xc3') {
        EXPECT_EQ(shifted[i + 1], '\xbc');
      }
    }
  }
}

TEST(AcceptEncoding, TakesWhatIsNamedAndNotWeighedDown) {
  EXPECT_TRUE(takes_coding("gzip, deflate, br", "br"));
  EXPECT_TRUE(takes_coding("GZIP;Q=0.5,Br", "gzip"));
  EXPECT_TRUE(takes_coding("\tbr ;\tq=0.001", "br"));
  EXPECT_TRUE(takes_coding("br;level=0", "br")) << "another parameter is no weight";
  EXPECT_TRUE(takes_coding("*", "br"));
  EXPECT_TRUE(takes_coding("identity;q=0, *;q=0.1", "gzip"));
  EXPECT_TRUE(takes_coding("br, *;q=0", "br")) << "a name says more than the star";
  EXPECT_FALSE(takes_coding("", "br"));
  EXPECT_FALSE(takes_coding("gzip", "br"));
  EXPECT_FALSE(takes_coding("brotli, xbr", "br")) << "a part of a name is another name";
  EXPECT_FALSE(takes_coding("br;q=0", "br"));
  EXPECT_FALSE(takes_coding("br; q=0.000, *", "br"));
  EXPECT_FALSE(takes_coding("gzip;q=1, *;q=0", "br"));
  EXPECT_FALSE(takes_coding(",;,=,;q=1,", "br"));
}

}  // namespace
}  // namespace shepherd
