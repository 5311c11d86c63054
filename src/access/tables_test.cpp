// Tests for the parts of access that need no journal: principals, secrets, token records, tickets, login codes, the
// rate limit.
#include <gtest/gtest.h>

#include <ctime>

#include "access/limits.h"
#include "access/rate_limit.h"
#include "access/secret.h"
#include "access/tickets.h"
#include "access/token_table.h"
#include "base/clock.h"

namespace shepherd {
namespace {

Digest digest_of(int n) {
  Digest digest;
  digest.bytes[0] = static_cast<unsigned char>(n);
  digest.bytes[1] = static_cast<unsigned char>(n >> 8);
  return digest;
}

std::shared_ptr<const Principal> principal(std::string token_id) {
  return std::make_shared<const Principal>(Principal{std::move(token_id), "ada", Scope::viewer, ""});
}

TEST(Principal, ScopesGiveTheirRightsAndNoMore) {
  auto rights = [](const Principal& who, std::string_view task) {
    std::string out;
    for (auto [right, letter] :
         {std::pair{Right::view, 'v'}, {Right::command, 'c'}, {Right::produce, 'p'}, {Right::administer, 'a'}}) {
      if (who.may(right, task)) out += letter;
    }
    return out;
  };
  EXPECT_EQ(rights({"t", "n", Scope::viewer, ""}, "x"), "v");
  EXPECT_EQ(rights({"t", "n", Scope::operator_, ""}, "x"), "vc");
  EXPECT_EQ(rights({"t", "n", Scope::producer, ""}, "x"), "vp");
  EXPECT_EQ(rights({"t", "n", Scope::producer, "x"}, "x"), "vp");
  EXPECT_EQ(rights({"t", "n", Scope::producer, "x"}, "y"), "");
  EXPECT_EQ(rights({"t", "n", Scope::producer, "x"}, ""), "");
  EXPECT_EQ(rights({"t", "n", Scope::admin, ""}, ""), "vcpa");
  for (Scope scope : {Scope::viewer, Scope::operator_, Scope::producer, Scope::admin}) {
    EXPECT_EQ(scope_named(name(scope)), scope);
  }
  EXPECT_EQ(scope_named("root"), std::nullopt);
}

TEST(Secret, HasItsFormAndDigest) {
  SystemRandom random;
  std::string secret = make_secret(kTokenPrefix, random);
  EXPECT_EQ(secret.size(), 47U);
  EXPECT_TRUE(secret.starts_with("shp_"));
  EXPECT_EQ(secret.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), secret.npos);
  EXPECT_NE(secret, make_secret(kTokenPrefix, random));
  EXPECT_EQ(digest_secret(kTokenPrefix, secret), digest_secret(kTokenPrefix, secret));
  EXPECT_EQ(digest_secret(kTicketPrefix, secret), std::nullopt);
  EXPECT_EQ(digest_secret(kTokenPrefix, secret.substr(1)), std::nullopt);
  EXPECT_EQ(digest_secret(kTokenPrefix, ""), std::nullopt);
}

TEST(Secret, DigestIsSha256) {
  std::string secret = "shp_" + std::string(43, 'A');
  Digest digest = *digest_secret(kTokenPrefix, secret);
  // printf 'shp_%s' AAA…(43) | sha256sum
  EXPECT_EQ(to_hex(digest), "1b5a86124f457b00205d1b35c54d67a80868d14dc9a94f97d011748f4edab3cc");
  EXPECT_EQ(digest_from_hex(to_hex(digest)), digest);
  EXPECT_EQ(digest_from_hex("xy"), std::nullopt);
  EXPECT_EQ(digest_from_hex(std::string(64, 'g')), std::nullopt);
}

TEST(TokenTable, RecordsSurviveTheStore) {
  TokenRecord token{{"id1", "Ada \"L\" \xc3\xa9", Scope::producer, "task-1", 5, 99, true, "id0"}, digest_of(7)};
  auto read = decode_token("id1", encode_token(token));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->info.name, token.info.name);
  EXPECT_EQ(read->info.scope, Scope::producer);
  EXPECT_EQ(read->info.only_task, "task-1");
  EXPECT_EQ(read->info.created_ms, 5);
  EXPECT_EQ(read->info.expires_ms, 99);
  EXPECT_TRUE(read->info.session);
  EXPECT_EQ(read->info.parent, "id0");
  EXPECT_EQ(read->digest, token.digest);
  // The format of earlier versions.
  auto older = decode_token("id1", R"({"sha256":")" + to_hex(token.digest) + R"(","scope":"viewer","session":true})");
  ASSERT_TRUE(older.has_value());
  EXPECT_EQ(older->info.parent, "");
  EXPECT_FALSE(decode_token("id1", "{}").has_value());
  EXPECT_FALSE(decode_token("id1", "not json").has_value());
  EXPECT_FALSE(decode_token("id1", R"({"sha256":7,"scope":"admin"})").has_value());
}

TEST(TokenTable, FindsUntilExpiredOrRemoved) {
  TokenTable table;
  table.put({{"a", "ada", Scope::admin, "", 1, 100, false, ""}, digest_of(1)});
  table.put({{"b", "bob", Scope::viewer, "", 2, 0, false, ""}, digest_of(2)});
  EXPECT_EQ((*table.find(digest_of(1), false, 99))->person, "ada");
  EXPECT_EQ(table.find(digest_of(1), false, 100).error().reason, "token_expired");
  EXPECT_EQ(table.find(digest_of(3), false, 1).error().reason, "bad_token");
  EXPECT_EQ(table.usable("a", 100), nullptr);
  EXPECT_NE(table.usable("b", 1'000'000), nullptr);
  EXPECT_EQ(table.next_expiry(99), 100);
  EXPECT_EQ(table.next_expiry(100), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(table.expired(100), std::vector<std::string>{"a"});
  EXPECT_TRUE(table.remove("b"));
  EXPECT_FALSE(table.remove("b"));
  EXPECT_EQ(table.find(digest_of(2), false, 1).error().reason, "bad_token");
  EXPECT_EQ(table.list().size(), 1U);
}

TEST(Tickets, OneUseThenOnlyReconnectsOfTheSameStream) {
  Tickets tickets;
  auto ada = principal("a");
  tickets.add(digest_of(1), "a", ada, 0);
  EXPECT_EQ(tickets.use(digest_of(1), "/events/x", false, 10'000), ada);
  EXPECT_EQ(tickets.use(digest_of(1), "/events/x", false, 10'001), nullptr) << "a second use without a cursor";
  EXPECT_EQ(tickets.use(digest_of(1), "/events/y", true, 10'001), nullptr) << "another stream";
  EXPECT_EQ(tickets.use(digest_of(1), "/events/x", true, 10'001), ada);
  EXPECT_EQ(tickets.use(digest_of(1), "/events/x", true, 10'000 + kTicketReconnect.count()), ada);
  EXPECT_EQ(tickets.use(digest_of(1), "/events/x", true, 10'001 + kTicketReconnect.count()), nullptr);
  EXPECT_EQ(tickets.size(), 0U);
}

TEST(Tickets, ExpireUnused) {
  Tickets tickets;
  tickets.add(digest_of(1), "a", principal("a"), 0);
  EXPECT_EQ(tickets.use(digest_of(1), "/x", true, kTicketLife.count() + 1), nullptr);
  EXPECT_EQ(tickets.size(), 0U);
}

TEST(Tickets, DropTheOldestUnusedWhenFull) {
  Tickets tickets(3);
  auto ada = principal("a");
  for (int n = 1; n <= 3; ++n) tickets.add(digest_of(n), "a", ada, n);
  EXPECT_EQ(tickets.use(digest_of(1), "/x", false, 5), ada);
  tickets.add(digest_of(4), "a", ada, 6);
  EXPECT_EQ(tickets.size(), 3U);
  EXPECT_EQ(tickets.use(digest_of(2), "/x", false, 7), nullptr);
  EXPECT_EQ(tickets.use(digest_of(1), "/x", true, 7), ada) << "the open stream may still reconnect";
  EXPECT_EQ(tickets.use(digest_of(3), "/x", false, 7), ada);
  EXPECT_EQ(tickets.use(digest_of(4), "/x", false, 8), ada);
  tickets.add(digest_of(5), "a", ada, 9);
  EXPECT_EQ(tickets.size(), 3U);
  EXPECT_EQ(tickets.use(digest_of(1), "/x", true, 9), nullptr) << "no unused one was left to drop";
}

TEST(Tickets, GoWithTheirToken) {
  Tickets tickets;
  tickets.add(digest_of(1), "a", principal("a"), 0);
  tickets.add(digest_of(2), "a", principal("a"), 0);
  tickets.add(digest_of(3), "b", principal("b"), 0);
  ASSERT_NE(tickets.use(digest_of(2), "/x", false, 0), nullptr);
  tickets.drop_tokens({"a"});
  EXPECT_EQ(tickets.size(), 1U);
  EXPECT_EQ(tickets.use(digest_of(1), "/x", false, 0), nullptr);
  EXPECT_EQ(tickets.use(digest_of(2), "/x", true, 0), nullptr);
  EXPECT_NE(tickets.use(digest_of(3), "/x", false, 0), nullptr);
}

TEST(LoginCodes, WorkOnceInTime) {
  LoginCodes codes;
  codes.add(digest_of(1), "a", *principal("a"), 0);
  codes.add(digest_of(2), "b", *principal("b"), 0);
  EXPECT_EQ(codes.take(digest_of(1), 1)->token_id, "a");
  EXPECT_FALSE(codes.take(digest_of(1), 1).has_value());
  EXPECT_FALSE(codes.take(digest_of(2), kLoginLinkLife.count() + 1).has_value());
}

TEST(Tickets, AnOwnerWithTooManyLosesItsOwn) {
  Tickets tickets(100, 2);
  auto ada = principal("a");
  auto bob = principal("b");
  tickets.add(digest_of(1), "b", bob, 0);
  for (int n = 2; n <= 4; ++n) EXPECT_TRUE(tickets.add(digest_of(n), "a", ada, n));
  EXPECT_EQ(tickets.use(digest_of(2), "/x", false, 5), nullptr);
  EXPECT_EQ(tickets.use(digest_of(3), "/x", false, 5), ada);
  EXPECT_EQ(tickets.use(digest_of(1), "/x", false, 5), bob);
}

TEST(Tickets, WhenAllIsFullNobodyElsesGoes) {
  Tickets tickets(2, 2);
  tickets.add(digest_of(1), "a", principal("a"), 0);
  tickets.add(digest_of(2), "a", principal("a"), 0);
  EXPECT_FALSE(tickets.add(digest_of(3), "b", principal("b"), 0));
  EXPECT_NE(tickets.use(digest_of(1), "/x", false, 1), nullptr);
}

TEST(TokenTable, ARevocationFindsItsFamilyWithoutLookingAtAll) {
  TokenTable table;
  table.put({{"root", "ada", Scope::admin, "", 1, 0, false, ""}, digest_of(0)});
  constexpr int kMany = 60'000;
  std::string parent = "root";
  for (int n = 1; n <= kMany; ++n) {
    std::string id = "s" + std::to_string(n);
    table.put({{id, "ada", Scope::admin, "", n, 0, true, n % 100 == 0 ? parent : "root"}, digest_of(n)});
    if (n % 100 == 0) parent = id;
  }
  EXPECT_EQ(table.root(parent), "root");
  std::clock_t before = std::clock();  // processor time, so that other processes do not count
  std::vector<std::string> family = table.family("root");
  EXPECT_EQ(family.size(), kMany + 1U);
  for (const std::string& id : family) table.remove(id);
  EXPECT_EQ(table.size(), 0U);
  // This takes some hundredths of a second; searching all for each would take minutes.
  EXPECT_LT((std::clock() - before) / CLOCKS_PER_SEC, 10);
}

TEST(FailedLoginLimit, StopsAPeerAndLetsItBackIn) {
  ManualClock clock;
  FailedLoginLimit limit(clock);
  for (int i = 0; i < kFailedLoginsPerMinute; ++i) {
    EXPECT_TRUE(limit.check("10.0.0.1:" + std::to_string(1000 + i)).has_value()) << i;
    limit.failed("10.0.0.1:" + std::to_string(1000 + i));
  }
  auto refused = limit.check("10.0.0.1:7");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::rate_limited);
  EXPECT_EQ(std::get<std::int64_t>(refused.error().fields.at(0).value), 1);
  EXPECT_TRUE(limit.check("10.0.0.2:7").has_value()) << "others are not affected";
  clock.advance_ms(1000 * 60 / kFailedLoginsPerMinute);
  EXPECT_TRUE(limit.check("10.0.0.1:7").has_value()) << "one attempt drained";
  limit.failed("10.0.0.1:7");
  EXPECT_FALSE(limit.check("10.0.0.1:7").has_value());
  clock.advance_ms(61'000);
  EXPECT_TRUE(limit.check("10.0.0.1:7").has_value());
}

TEST(FailedLoginLimit, CountsAnIpv6NetworkAsOnePeer) {
  ManualClock clock;
  FailedLoginLimit limit(clock);
  for (int i = 0; i < kFailedLoginsPerMinute; ++i) limit.failed("[2001:db8:1:2::" + std::to_string(i + 1) + "]:4000");
  EXPECT_FALSE(limit.check("[2001:db8:1:2:ffff::1]:5000").has_value());
  EXPECT_TRUE(limit.check("[2001:db8:1:3::1]:5000").has_value());
}

TEST(FailedLoginLimit, ForgetsTheLongestQuietWhenFull) {
  ManualClock clock;
  FailedLoginLimit limit(clock);
  for (int i = 0; i < kFailedLoginsPerMinute; ++i) limit.failed("first");
  for (int i = 0; i < kFailedLoginsPerMinute; ++i) limit.failed("second");
  limit.failed("first");
  for (std::size_t i = 0; i < kFailedLoginPeers - 1; ++i) limit.failed("peer" + std::to_string(i));
  EXPECT_FALSE(limit.check("first").has_value());
  EXPECT_TRUE(limit.check("second").has_value());
}

}  // namespace
}  // namespace shepherd
