#include <cstdlib>
#include <filesystem>
#include <thread>

#include "api/api_fixture.h"
#include "store/search_sqlite/sqlite_search_index.h"

namespace shepherd {
namespace {

class SearchApi : public ApiFixture {
 protected:
  void SetUp() override {
    std::string directory = (std::filesystem::temp_directory_path() / "shepherd-search-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    directory_ = directory;
    auto index = open_sqlite_search_index((directory_ / "search.db").string(), 0);
    ASSERT_TRUE(index) << index.error().message;
    index_ = std::move(*index);
    search_ = index_.get();
    running_indexer_ = std::make_unique<Indexer>(store_, *index_, metrics_);
    indexer_ = running_indexer_.get();
    ApiFixture::SetUp();
  }
  void TearDown() override {
    ApiFixture::TearDown();
    running_indexer_.reset();
    index_.reset();
    std::filesystem::remove_all(directory_);
  }
  // Returns the answer once the index has caught up with the store.
  json::object find(const std::string& query) {
    for (;;) {
      indexer_->wake();
      auto answer = parsed(get("/api/v1/search?q=" + query)).as_object();
      if (answer.at("indexedThrough") == answer.at("head")) return answer;
      std::this_thread::yield();
    }
  }

  std::filesystem::path directory_;
  std::unique_ptr<SearchIndex> index_;
  std::unique_ptr<Indexer> running_indexer_;
};

TEST_F(SearchApi, FindsEventsAndForgetsDeletedTasks) {
  create("t1");
  create("t2");
  append_lines("t1", 3);
  produce("/api/v1/tasks/t2/events", R"({"type":"error","summary":"connection refused by db.example.com"})");
  auto found = find("refused").at("results").as_array();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("taskID").as_string(), "t2");
  EXPECT_EQ(found[0].at("sequence").as_int64(), 1);
  EXPECT_EQ(found[0].at("type").as_string(), "error");
  EXPECT_NE(found[0].at("snippet").as_string().find("refused"), std::string_view::npos);
  EXPECT_EQ(find("line").at("results").as_array().size(), 3U);

  auto page = get("/api/v1/search?q=line&limit=2");
  EXPECT_EQ(parsed(page).at("results").as_array().size(), 2U);
  std::string link(page.header("link"));
  auto rest = get(link.substr(1, link.find('>') - 1));
  EXPECT_EQ(parsed(rest).at("results").as_array().size(), 1U);

  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/t2", "", bearer(admin_)).status, 204);
  EXPECT_TRUE(parsed(get("/api/v1/search?q=refused")).at("results").as_array().empty());
}

TEST_F(SearchApi, SaysWhatIsMissing) {
  EXPECT_EQ(get("/api/v1/search").status, 400);
  EXPECT_EQ(get("/api/v1/search?q=x&before=17").status, 400);
  EXPECT_EQ(get("/api/v1/search?q=" + std::string(1001, 'x')).status, 400);
}

class NoSearchApi : public ApiFixture {};

TEST_F(NoSearchApi, IsSaidPlainly) {
  EXPECT_EQ(code_of(get("/api/v1/search?q=x")), "search_disabled");
}

}  // namespace
}  // namespace shepherd
