#include "access/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "access/limits.h"
#include "base/manual_executor.h"
#include "bus/bus.h"
#include "store/limits.h"
#include "store/memory/forwarding_store.h"
#include "store/memory/memory_store.h"

namespace shepherd {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

class AccessTest : public testing::Test {
 protected:
  AccessTest() { reopen(); }
  ~AccessTest() override { journal_.drain(); }

  void reopen() {
    auto opened = Access::open(journal_, clock_, random_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    access_ = std::move(*opened);
  }
  template <class T, class Start>
  Result<T> wait_for(Start start) {
    Result<T> answer = fail(ErrorCode::internal, "unanswered", "no answer yet");
    start([&answer](Result<T> result) { answer = std::move(result); });
    while (journal_.step()) {
    }
    return answer;
  }
  Result<NewToken> create(const std::string& token_name, Scope scope, const std::string& task = "",
                          std::int64_t expires_ms = 0) {
    return wait_for<NewToken>([&](auto done) { access_->create_token(token_name, scope, task, expires_ms, done); });
  }
  Result<void> revoke(const std::string& id) {
    return wait_for<void>([&](auto done) { access_->revoke_token(id, done); });
  }
  Result<NewToken> redeem(const std::string& code) {
    return wait_for<NewToken>([&](auto done) { access_->redeem_login_code(code, done); });
  }
  std::shared_ptr<const Principal> principal_of(const std::string& secret) {
    auto principal = access_->authenticate(secret);
    if (!principal) principal = access_->authenticate_session(secret);
    return principal ? *principal : nullptr;
  }

  ManualClock clock_;
  MetricRegistry metrics_;
  SystemRandom random_;
  Fault fault_ = Fault::none;
  MemoryStore store_{[this] { return fault_; }};
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  ManualExecutor workers_;
  Journal journal_{store_, hub_, bus_, workers_, clock_, metrics_, false};
  std::unique_ptr<Access> access_;
};

// Two of them over one stream, as in two processes: what one does, the other learns.
TEST_F(AccessTest, TokensOfAnotherProcessComeAndGo) {
  auto other = std::move(*Access::open(journal_, clock_, random_));
  ASSERT_TRUE(other->follow(workers_));
  workers_.run_all();
  std::vector<std::string> told;
  other->on_revoked([&](const std::string& id) { told.push_back(id); });
  auto token = create("ada", Scope::viewer);
  ASSERT_TRUE(token);
  workers_.run_all();
  auto principal = other->authenticate(token->secret);
  ASSERT_TRUE(principal);
  EXPECT_EQ((*principal)->person, "ada");
  auto code = access_->make_login_code(**access_->authenticate(token->secret));
  auto session = redeem(*code);
  ASSERT_TRUE(session);
  workers_.run_all();
  EXPECT_TRUE(other->authenticate_session(session->secret));
  std::uint64_t before = other->revision();
  ASSERT_TRUE(revoke(token->info.id));
  workers_.run_all();
  EXPECT_FALSE(other->authenticate(token->secret));
  EXPECT_FALSE(other->authenticate_session(session->secret));
  EXPECT_NE(other->revision(), before);
  EXPECT_EQ(told.size(), 2U) << "streams of both can be ended";
}

TEST_F(AccessTest, ATokenOfAnotherProcessCountsAlsoIfItCameBeforeFollowing) {
  auto other = std::move(*Access::open(journal_, clock_, random_));
  auto token = create("ada", Scope::viewer);
  EXPECT_FALSE(other->authenticate(token->secret));
  ASSERT_TRUE(other->follow(workers_));
  EXPECT_TRUE(other->authenticate(token->secret));
  workers_.run_all();
}

TEST_F(AccessTest, ASessionOfATokenThatIsGoneIsNotTakenFromAnotherProcess) {
  auto other = std::move(*Access::open(journal_, clock_, random_));
  ASSERT_TRUE(other->follow(workers_));
  auto token = create("ada", Scope::viewer);
  auto session = redeem(*access_->make_login_code(**access_->authenticate(token->secret)));
  std::string value = *store_.record("token", session->info.id);
  ASSERT_TRUE(revoke(token->info.id));
  workers_.run_all();
  // A third process opened it while the token was being revoked.
  journal_.write([&](WriteTxn& txn) { return txn.put_record("token", session->info.id, value); },
                 [](Result<void> put) { ASSERT_TRUE(put); });
  while (journal_.step()) {
  }
  workers_.run_all();
  EXPECT_FALSE(other->authenticate_session(session->secret));
}

TEST_F(AccessTest, TokensAreReadAgainWhenChangesAreLost) {
  auto other = std::move(*Access::open(journal_, clock_, random_));
  ASSERT_TRUE(other->follow(workers_));
  auto revoked = create("ada", Scope::viewer);
  workers_.run_all();
  ASSERT_TRUE(other->authenticate(revoked->secret));
  // Another process revokes it, and then changes more than is kept.
  auto write_much = [&](const std::string& id, const std::string& value) {
    ASSERT_TRUE(store_.write([&](WriteTxn& txn) {
      ASSERT_TRUE(txn.put_record("token", id, value));
      for (std::uint64_t i = 0; i <= kKeptChanges; ++i) ASSERT_TRUE(txn.put_record("k", "a", std::to_string(i)));
    }));
    journal_.write([](WriteTxn& txn) { return txn.put_record("k", "b", "1"); }, [](const Result<void>&) {});
    while (journal_.step()) {
    }
    workers_.run_all();
  };
  std::string value = *store_.record("token", revoked->info.id);
  write_much(revoked->info.id, "");
  EXPECT_FALSE(other->authenticate(revoked->secret));
  // The same for one that comes: another process knows it, and this one learns it from the records.
  auto third = std::move(*Access::open(journal_, clock_, random_));
  ASSERT_TRUE(third->follow(workers_));
  workers_.run_all();
  write_much(revoked->info.id, value);
  EXPECT_TRUE(third->authenticate(revoked->secret));
}

class UnreadableRecords final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  bool broken = false;

  Result<std::string> record(const std::string& kind, const std::string& key) const override {
    if (broken) return fail(ErrorCode::unavailable, "io_error", "the disk failed");
    return inner().record(kind, key);
  }
};

TEST_F(AccessTest, ATokenThatCannotBeReadIsReadAgain) {
  UnreadableRecords records(store_);
  Journal journal(records, hub_, bus_, workers_, clock_, metrics_, false);
  auto other = std::move(*Access::open(journal, clock_, random_));
  ASSERT_TRUE(other->follow(workers_));
  workers_.run_all();
  auto token = create("ada", Scope::viewer);
  records.broken = true;
  journal.write([](WriteTxn& txn) { return txn.put_record("k", "a", "1"); }, [](const Result<void>&) {});
  while (journal.step()) {
  }
  workers_.run_all();
  EXPECT_FALSE(other->authenticate(token->secret));
  records.broken = false;
  journal.tick();
  workers_.run_all();
  EXPECT_TRUE(other->authenticate(token->secret));
}

TEST_F(AccessTest, ATokenThatWasRevokedMeanwhileIsNotPutBack) {
  ASSERT_TRUE(access_->follow(workers_));
  workers_.run_all();
  auto token = create("ada", Scope::viewer);
  const std::string& id = token->info.id;
  std::string value = *store_.record("token", id);
  ASSERT_TRUE(revoke(id));
  // The follower reads the record as it was before the revocation.
  ASSERT_TRUE(store_.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.put_record("token", id, value)); }));
  workers_.run_all();
  EXPECT_FALSE(access_->authenticate(token->secret));
}

TEST_F(AccessTest, ATokenWorksAlsoAfterARestartAndIsStoredHashed) {
  auto token = create("ada", Scope::producer, "task-1", clock_.wall_ms() + kHourMs);
  ASSERT_TRUE(token.has_value()) << token.error().message;
  reopen();
  auto principal = access_->authenticate(token->secret);
  ASSERT_TRUE(principal.has_value());
  EXPECT_EQ((*principal)->person, "ada");
  EXPECT_EQ((*principal)->token_id, token->info.id);
  EXPECT_EQ((*principal)->scope, Scope::producer);
  EXPECT_EQ((*principal)->only_task, "task-1");
  auto records = store_.records("token");
  ASSERT_EQ(records->size(), 1U);
  EXPECT_EQ(records->begin()->second.find(token->secret.substr(4)), std::string::npos);
  ASSERT_EQ(access_->tokens().size(), 1U);
  EXPECT_EQ(access_->tokens()[0].expires_ms, clock_.wall_ms() + kHourMs);
}

TEST_F(AccessTest, RefusesWhatIsNotAToken) {
  auto token = create("ada", Scope::admin);
  std::string other = token->secret;
  other.back() = other.back() == 'A' ? 'E' : 'A';
  for (const std::string& bad :
       {std::string(), std::string("shp_"), other, token->secret + "x", std::string(1'000'000, 'x')}) {
    auto principal = access_->authenticate(bad);
    ASSERT_FALSE(principal.has_value());
    EXPECT_EQ(principal.error().reason, "bad_token");
    EXPECT_EQ(principal.error().code, ErrorCode::unauthenticated);
  }
}

TEST_F(AccessTest, RefusesBadTokenRequests) {
  EXPECT_EQ(create("", Scope::viewer).error().reason, "bad_token_name");
  EXPECT_EQ(create("a\nb", Scope::viewer).error().reason, "bad_token_name");
  EXPECT_EQ(create(std::string(kMaxTokenNameBytes + 1, 'a'), Scope::viewer).error().reason, "bad_token_name");
  EXPECT_EQ(create("ada", Scope::viewer, "task-1").error().reason, "bad_token_task");
  EXPECT_EQ(create("ada", Scope::producer, "../x").error().reason, "bad_token_task");
  EXPECT_EQ(create("ada", Scope::viewer, "", clock_.wall_ms()).error().reason, "bad_token_expiry");
  EXPECT_TRUE(store_.records("token")->empty());
}

TEST_F(AccessTest, ExpiryEndsATokenAndMovesTheRevision) {
  auto token = create("ada", Scope::viewer, "", clock_.wall_ms() + kHourMs);
  auto forever = create("bob", Scope::viewer);
  auto principal = principal_of(token->secret);
  std::uint64_t revision = access_->revision();
  clock_.advance_ms(kHourMs - 1);
  EXPECT_EQ(access_->revision(), revision);
  EXPECT_TRUE(access_->still_valid(*principal));
  clock_.advance_ms(1);
  EXPECT_GT(access_->revision(), revision);
  EXPECT_FALSE(access_->still_valid(*principal));
  EXPECT_EQ(access_->authenticate(token->secret).error().reason, "token_expired");
  EXPECT_NE(principal_of(forever->secret), nullptr);
  revision = access_->revision();
  clock_.advance_ms(1000 * kHourMs);
  EXPECT_EQ(access_->revision(), revision) << "one expiry, one step";
}

TEST_F(AccessTest, LongExpiredTokensLeaveTheStore) {
  auto token = create("ada", Scope::viewer, "", clock_.wall_ms() + kHourMs);
  clock_.advance_ms(kHourMs + std::chrono::milliseconds(kExpiredTokenKeep).count());
  auto next = create("bob", Scope::viewer);
  auto records = store_.records("token");
  ASSERT_EQ(records->size(), 1U);
  EXPECT_EQ(records->begin()->first, next->info.id);
  EXPECT_EQ(access_->authenticate(token->secret).error().reason, "bad_token");
}

TEST_F(AccessTest, RevokingCutsEverythingOfTheToken) {
  auto token = create("ada", Scope::operator_);
  auto other = create("bob", Scope::viewer);
  auto principal = principal_of(token->secret);
  auto ticket = access_->make_ticket(principal);
  std::string code = *access_->make_login_code(*principal);
  std::vector<std::string> told;
  std::uint64_t callback = access_->on_revoked([&](const std::string& id) {
    EXPECT_FALSE(access_->still_valid(*principal)) << "told only when it is so";
    told.push_back(id);
  });
  std::uint64_t revision = access_->revision();

  ASSERT_TRUE(revoke(token->info.id).has_value());
  EXPECT_EQ(told, std::vector<std::string>{token->info.id});
  EXPECT_GT(access_->revision(), revision);
  EXPECT_EQ(access_->authenticate(token->secret).error().reason, "bad_token");
  EXPECT_FALSE(access_->use_ticket(*ticket, "/x", false).has_value());
  EXPECT_FALSE(redeem(code).has_value());
  EXPECT_FALSE(access_->make_ticket(principal).has_value());
  EXPECT_EQ(revoke(token->info.id).error().reason, "unknown_token");
  EXPECT_NE(principal_of(other->secret), nullptr);

  access_->on_revoked([&](const std::string&) { told.emplace_back("second"); });
  access_->forget(callback);
  told.clear();
  ASSERT_TRUE(revoke(other->info.id).has_value());
  EXPECT_EQ(told, std::vector<std::string>{"second"});
  reopen();
  EXPECT_EQ(principal_of(token->secret), nullptr);
}

TEST_F(AccessTest, RevokingATokenTakesItsSessionsAlong) {
  auto token = create("ada", Scope::operator_);
  auto session = redeem(*access_->make_login_code(*principal_of(token->secret)));
  ASSERT_TRUE(session.has_value());
  auto second = redeem(*access_->make_login_code(*principal_of(session->secret)));  // a phone, by the laptop's page
  auto of_another = redeem(*access_->make_login_code(*principal_of(create("bob", Scope::viewer)->secret)));
  ASSERT_TRUE(second.has_value() && of_another.has_value());
  EXPECT_EQ(session->info.parent, token->info.id);
  reopen();
  std::vector<std::string> told;
  access_->on_revoked([&](const std::string& id) { told.push_back(id); });
  ASSERT_TRUE(revoke(token->info.id).has_value());
  EXPECT_EQ(told, (std::vector<std::string>{token->info.id, session->info.id, second->info.id}));
  for (bool reopened : {false, true}) {
    if (reopened) reopen();
    EXPECT_EQ(principal_of(session->secret), nullptr);
    EXPECT_EQ(principal_of(second->secret), nullptr);
    EXPECT_NE(principal_of(of_another->secret), nullptr);
  }
}

TEST_F(AccessTest, ASessionWhoseTokenIsGoneDoesNotComeBack) {
  auto token = create("ada", Scope::operator_);
  auto session = redeem(*access_->make_login_code(*principal_of(token->secret)));
  auto second = redeem(*access_->make_login_code(*principal_of(session->secret)));
  // As after a crash between the two commits of a revocation that raced with a login.
  auto removed = wait_for<void>([&](auto done) {
    journal_.write([id = token->info.id](WriteTxn& txn) { return txn.put_record("token", id, ""); }, std::move(done));
  });
  ASSERT_TRUE(removed.has_value());
  reopen();
  EXPECT_EQ(principal_of(session->secret), nullptr);
  EXPECT_EQ(principal_of(second->secret), nullptr);
}

TEST_F(AccessTest, AFailedCommitChangesNothing) {
  auto token = create("ada", Scope::viewer);
  fault_ = Fault::fail_before_commit;
  EXPECT_FALSE(revoke(token->info.id).has_value());
  EXPECT_FALSE(create("bob", Scope::viewer).has_value());
  EXPECT_NE(principal_of(token->secret), nullptr);
  EXPECT_EQ(access_->tokens().size(), 1U);
}

TEST_F(AccessTest, CompletionsMayOutliveAccess) {
  bool answered = false;
  access_->create_token("ada", Scope::viewer, "", 0, [&](Result<NewToken> token) { answered = token.has_value(); });
  access_.reset();
  while (journal_.step()) {
  }
  EXPECT_TRUE(answered);
}

TEST_F(AccessTest, ALoginCodeBecomesOneSession) {
  auto token = create("ada", Scope::operator_);
  std::string code = *access_->make_login_code(*principal_of(token->secret));
  auto session = redeem(code);
  ASSERT_TRUE(session.has_value()) << session.error().message;
  EXPECT_TRUE(session->info.session);
  EXPECT_EQ(session->info.expires_ms, clock_.wall_ms() + std::chrono::milliseconds(kSessionLife).count());
  auto principal = principal_of(session->secret);
  ASSERT_NE(principal, nullptr);
  EXPECT_EQ(principal->person, "ada");
  EXPECT_EQ(principal->scope, Scope::operator_);
  EXPECT_EQ(redeem(code).error().reason, "bad_login_code");
  EXPECT_EQ(redeem("nonsense").error().reason, "bad_login_code");

  code = *access_->make_login_code(*principal);
  clock_.advance_ms(kLoginLinkLife.count() + 1);
  EXPECT_EQ(redeem(code).error().reason, "bad_login_code");
}

TEST_F(AccessTest, ASessionEndsWithTheTokenItCameFrom) {
  auto token = create("ada", Scope::viewer, "", clock_.wall_ms() + kHourMs);
  auto session = redeem(*access_->make_login_code(*principal_of(token->secret)));
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(session->info.expires_ms, token->info.expires_ms);
}

TEST_F(AccessTest, TicketsEndWithTheirTokensLife) {
  auto token = create("ada", Scope::viewer, "", clock_.wall_ms() + 20'000);
  auto ticket = access_->make_ticket(principal_of(token->secret));
  ASSERT_TRUE(ticket.has_value());
  ASSERT_TRUE(access_->use_ticket(*ticket, "/x", false).has_value());
  EXPECT_TRUE(access_->use_ticket(*ticket, "/x", true).has_value());
  EXPECT_EQ(access_->use_ticket(*ticket, "/x", false).error().reason, "bad_ticket");
  EXPECT_EQ(access_->use_ticket("sht_", "/x", true).error().reason, "bad_ticket");
  clock_.advance_ms(20'000);
  EXPECT_EQ(access_->use_ticket(*ticket, "/x", true).error().reason, "bad_ticket");
}

TEST_F(AccessTest, AnonymousMayHaveTicketsToo) {
  auto anonymous = std::make_shared<const Principal>(Principal{"", "anonymous", Scope::admin, ""});
  EXPECT_TRUE(access_->still_valid(*anonymous));
  auto ticket = access_->make_ticket(anonymous);
  ASSERT_TRUE(ticket.has_value());
  EXPECT_EQ(access_->use_ticket(*ticket, "/x", false).value(), anonymous);
}

class AdminToken : public testing::Test {
 protected:
  AdminToken() {
    std::string name = testing::TempDir() + "adminXXXXXX";
    directory_ = mkdtemp(name.data());
    path_ = directory_ / "admin.token";
    access_ = std::move(*Access::open(journal_, clock_, random_));
  }
  ~AdminToken() override {
    journal_.drain();
    std::filesystem::remove_all(directory_);
  }

  std::filesystem::path directory_, path_;
  ManualClock clock_;
  MetricRegistry metrics_;
  SystemRandom random_;
  MemoryStore store_;
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  ManualExecutor workers_;
  Journal journal_{store_, hub_, bus_, workers_, clock_, metrics_};
  std::unique_ptr<Access> access_;
};

TEST_F(AdminToken, IsMadeOnceAndKeptPrivate) {
  auto secret = ensure_admin_token(*access_, path_);
  ASSERT_TRUE(secret.has_value()) << secret.error().message;
  struct stat facts{};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  EXPECT_EQ((*access_->authenticate(*secret))->scope, Scope::admin);
  EXPECT_EQ(ensure_admin_token(*access_, path_).value(), *secret);
  EXPECT_EQ(access_->tokens().size(), 1U);

  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  EXPECT_EQ(ensure_admin_token(*access_, path_).value(), *secret);
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(AdminToken, ReplacesAStaleFile) {
  std::ofstream(path_) << "shp_of_another_installation\n";
  std::ofstream(path_.string() + ".new") << "left by a start that died";
  auto secret = ensure_admin_token(*access_, path_);
  ASSERT_TRUE(secret.has_value()) << secret.error().message;
  std::string line;
  std::getline(std::ifstream(path_), line);
  EXPECT_EQ(line, *secret);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
}

TEST_F(AdminToken, WithoutADirectoryThereIsAnErrorAndNoToken) {
  auto secret = ensure_admin_token(*access_, directory_ / "missing" / "admin.token");
  ASSERT_FALSE(secret.has_value());
  journal_.drain();
  EXPECT_TRUE(store_.records("token")->empty());
}

TEST_F(AccessTest, ASessionIsNoTokenAndATokenIsNoSession) {
  auto token = create("ann", Scope::operator_);
  auto session = redeem(*access_->make_login_code(*principal_of(token->secret)));
  ASSERT_TRUE(session.has_value());
  EXPECT_TRUE(session->secret.starts_with("shs_"));
  EXPECT_EQ(access_->authenticate(session->secret).error().reason, "bad_token");
  EXPECT_EQ(access_->authenticate_session(token->secret).error().reason, "bad_token");
  EXPECT_EQ((*access_->authenticate_session(session->secret))->person, "ann");
  reopen();
  EXPECT_EQ(access_->authenticate(session->secret).error().reason, "bad_token");
  EXPECT_TRUE(access_->authenticate_session(session->secret).has_value());
}

TEST_F(AccessTest, ManyLoginLinksOfOneTokenEndNobodyElses) {
  auto ann = create("ann", Scope::admin);
  auto bob = create("bob", Scope::viewer);
  std::string good = *access_->make_login_code(*principal_of(ann->secret));
  std::string first = *access_->make_login_code(*principal_of(bob->secret));
  auto session = redeem(*access_->make_login_code(*principal_of(bob->secret)));
  std::string last;
  for (int i = 0; i < 1'010; ++i) {
    // By the token and by one of its sessions, which share one bound.
    auto code = access_->make_login_code(*principal_of(i % 2 == 0 ? bob->secret : session->secret));
    ASSERT_TRUE(code.has_value()) << i;
    last = *code;
  }
  EXPECT_TRUE(redeem(good).has_value());
  EXPECT_FALSE(redeem(first).has_value()) << "its own oldest went";
  EXPECT_TRUE(redeem(last).has_value());
}

TEST_F(AccessTest, ManyTicketsOfOneTokenEndNobodyElses) {
  auto ann = create("ann", Scope::admin);
  auto bob = create("bob", Scope::producer, "t1");
  auto good = access_->make_ticket(principal_of(ann->secret));
  for (int i = 0; i < 10'050; ++i) ASSERT_TRUE(access_->make_ticket(principal_of(bob->secret)).has_value()) << i;
  EXPECT_TRUE(access_->use_ticket(*good, "/x", false).has_value());
}

TEST_F(AccessTest, SessionsOfOneTokenAreBoundedAndTheFirstOnesGo) {
  auto ann = create("ann", Scope::viewer);
  auto other = redeem(*access_->make_login_code(*principal_of(create("bob", Scope::viewer)->secret)));
  std::vector<std::string> gone;
  access_->on_revoked([&](const std::string& id) { gone.push_back(id); });
  std::vector<NewToken> made;
  for (std::size_t i = 0; i < kSessionsPerToken + 3; ++i) {
    clock_.advance_ms(1);  // ids sort by time
    made.push_back(*redeem(*access_->make_login_code(*principal_of(ann->secret))));
  }
  EXPECT_EQ(gone, (std::vector<std::string>{made[0].info.id, made[1].info.id, made[2].info.id}));
  EXPECT_EQ(principal_of(made[2].secret), nullptr);
  EXPECT_NE(principal_of(made[3].secret), nullptr);
  EXPECT_NE(principal_of(made.back().secret), nullptr);
  EXPECT_NE(principal_of(other->secret), nullptr);
  // Sessions made with a session also count for its token.
  clock_.advance_ms(1);
  ASSERT_TRUE(redeem(*access_->make_login_code(*principal_of(made.back().secret))).has_value());
  EXPECT_EQ(principal_of(made[3].secret), nullptr);
  reopen();
  EXPECT_EQ(principal_of(made[2].secret), nullptr);
  EXPECT_NE(principal_of(made[4].secret), nullptr);
}

TEST_F(AccessTest, AdminsMakeLoginLinksForOthers) {
  auto ann = create("ann", Scope::operator_);
  create("twin", Scope::viewer);
  create("twin", Scope::admin);
  auto session = redeem(*access_->make_login_code_for("ann"));
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(session->info.parent, ann->info.id);
  EXPECT_EQ(session->info.scope, Scope::operator_);
  EXPECT_TRUE(access_->make_login_code_for(ann->info.id).has_value());
  EXPECT_EQ(access_->make_login_code_for("twin").error().reason, "unknown_token");
  EXPECT_EQ(access_->make_login_code_for("nobody").error().reason, "unknown_token");
  EXPECT_EQ(access_->make_login_code_for(session->info.id).error().reason, "unknown_token");
}

}  // namespace
}  // namespace shepherd
