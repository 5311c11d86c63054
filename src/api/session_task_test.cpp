#include "api/session_task.h"

#include <gtest/gtest.h>

#include "api/limits.h"
#include "model/wire_json.h"
#include "store/memory/forwarding_txn.h"
#include "store/memory/memory_store.h"

namespace shepherd {
namespace {

class CountingTxn final : public ForwardingTxn {
 public:
  using ForwardingTxn::ForwardingTxn;
  Result<TaskRow> row(const std::string& id) override {
    ++rows;
    return ForwardingTxn::row(id);
  }
  int rows = 0;
};

class SessionTaskTest : public testing::Test {
 protected:
  void create(const std::string& id, bool ended = true) {
    ASSERT_TRUE(store_.write([&](WriteTxn& txn) {
      TaskSpec spec;
      spec.id = id;
      ASSERT_TRUE(txn.create_task(spec, 1, ""));
      if (!ended) return;
      auto drafts =
          decode_events(R"({"type":"status","summary":"x","data":{"state":"completed"}})", Framing::json, Intake{});
      ASSERT_TRUE(drafts);
      ASSERT_TRUE(txn.append({id, {}, std::move(*drafts), 1}));
    }));
  }
  void erase(const std::string& id) {
    ASSERT_TRUE(store_.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task(id)); }));
  }
  // "current free" as a hook call finds and records it; sets rows_.
  std::string look() {
    std::string text;
    EXPECT_TRUE(store_.write([&](WriteTxn& inner) {
      CountingTxn txn(inner);
      auto found = find_session_task(txn, {"claude", "s"});
      if (!found) {
        text = found.error().reason;
      } else {
        EXPECT_TRUE(keep_session_task(txn, {"claude", "s"}, *found));
        text = (found->current ? found->current->spec.id : "none") + " " + found->free_id;
      }
      rows_ = txn.rows;
    }));
    return text;
  }

  MemoryStore store_;
  int rows_ = 0;
};

TEST_F(SessionTaskTest, ASessionOfManyTasksIsLookedThroughOnce) {
  create("claude-s");
  for (int number = 2; number <= 900; ++number) create("claude-s-" + std::to_string(number));
  EXPECT_EQ(look(), "claude-s-900 claude-s-901");
  EXPECT_EQ(rows_, 901);
  EXPECT_EQ(look(), "claude-s-900 claude-s-901");
  EXPECT_EQ(rows_, 2);
  create("claude-s-901", false);  // by an import
  EXPECT_EQ(look(), "claude-s-901 claude-s-901") << "the active one";
  EXPECT_EQ(look(), "claude-s-901 claude-s-901");
  EXPECT_EQ(rows_, 1);
}

TEST_F(SessionTaskTest, ASessionThatWasNotResumedNeedsNoRecord) {
  EXPECT_EQ(look(), "none claude-s");
  create("claude-s");
  EXPECT_EQ(look(), "claude-s claude-s-2");
  EXPECT_TRUE(store_.records("hook_session")->empty());
}

TEST_F(SessionTaskTest, ARecordOfADeletedTaskIsPutRight) {
  create("claude-s");
  create("claude-s-2");
  create("claude-s-3");
  EXPECT_EQ(look(), "claude-s-3 claude-s-4");
  EXPECT_EQ(*store_.record("hook_session", "claude-s"), "3");
  erase("claude-s-3");
  EXPECT_EQ(look(), "claude-s-2 claude-s-3");
  EXPECT_EQ(*store_.record("hook_session", "claude-s"), "2");
  erase("claude-s-2");
  erase("claude-s");
  EXPECT_EQ(look(), "none claude-s");
  EXPECT_EQ(*store_.record("hook_session", "claude-s"), "");
}

TEST_F(SessionTaskTest, AnOlderTaskThatIsDeletedChangesNothing) {
  create("claude-s");
  create("claude-s-2");
  create("claude-s-3");
  EXPECT_EQ(look(), "claude-s-3 claude-s-4");
  erase("claude-s-2");
  EXPECT_EQ(look(), "claude-s-3 claude-s-4") << "its number is not given again";
}

TEST_F(SessionTaskTest, ASessionHasAMost) {
  ASSERT_TRUE(store_.write([&](WriteTxn& txn) {
    ASSERT_TRUE(txn.put_record("hook_session", "claude-s", std::to_string(kMaxSessionTasks)));
  }));
  create("claude-s-" + std::to_string(kMaxSessionTasks));
  EXPECT_EQ(look(), "too_many_tasks");
  EXPECT_EQ(rows_, 1);
}

}  // namespace
}  // namespace shepherd
