#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/limits.h"
#include "base/random.h"
#include "store/search_sqlite/query.h"
#include "store/search_sqlite/sqlite_search_index.h"

namespace shepherd {
namespace {

using Positions = std::vector<std::uint64_t>;

class Search : public testing::Test {
 protected:
  Search() {
    std::string name = testing::TempDir() + "searchXXXXXX";
    directory_ = mkdtemp(name.data());
    path_ = directory_ / "search.db";
  }
  ~Search() override { std::filesystem::remove_all(directory_); }

  void open(std::uint64_t store_head = 1'000'000) {
    index_.reset();
    auto opened = open_sqlite_search_index(path_, store_head);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    index_ = std::move(*opened);
  }
  void add(std::vector<SearchEntry> entries) {
    auto added = index_->add(entries, entries.back().position);
    ASSERT_TRUE(added.has_value()) << added.error().message;
  }
  Positions find(std::string_view query, std::uint64_t before = 0, std::size_t limit = 50) {
    auto found = index_->search(query, before, limit);
    EXPECT_TRUE(found.has_value()) << query << ": " << found.error().message;
    return found.value_or(Positions{999'999});
  }

  void damage(const char* sql) {
    index_.reset();
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(connection);
    sqlite3_close(connection);
  }

  std::filesystem::path directory_, path_;
  std::unique_ptr<SearchIndex> index_;
};

TEST_F(Search, FindsWhatAPersonExpects) {
  open();
  add({{1, "Reading src/auth.go"},
       {2, "Running go test ./... in /home/ada/project"},
       {3, "// TODO: handle user_id in parse_event()"},
       {4, "Edit src/author.py"},
       {5, "git commit --no-verify -m 'd\xc3\xa9j\xc3\xa0 vu'"}});
  EXPECT_EQ(find("auth.go"), (Positions{1}));
  EXPECT_EQ(find("src/auth"), (Positions{1}));
  EXPECT_EQ(find("src"), (Positions{4, 1})) << "newest first";
  EXPECT_EQ(find("auth*"), (Positions{4, 1}));
  EXPECT_EQ(find("src/auth*"), (Positions{4, 1}));
  EXPECT_EQ(find("\"reading src\"*"), (Positions{1}));
  EXPECT_EQ(find("r*"), (Positions{})) << "too short for a prefix";
  EXPECT_EQ(find("go test"), (Positions{2}));
  EXPECT_EQ(find("test go"), (Positions{2})) << "words in any order";
  EXPECT_EQ(find("\"test go\""), (Positions{})) << "a phrase has an order";
  EXPECT_EQ(find("./..."), (Positions{})) << "no word in it";
  EXPECT_EQ(find("TODO"), (Positions{3}));
  EXPECT_EQ(find("todo"), (Positions{3}));
  EXPECT_EQ(find("user_id"), (Positions{3}));
  EXPECT_EQ(find("parse_event()"), (Positions{3}));
  EXPECT_EQ(find("--no-verify"), (Positions{5}));
  EXPECT_EQ(find("deja"), (Positions{5}));
  EXPECT_EQ(find("D\xc3\x89J\xc3\x80"), (Positions{5}));
}

// Searches the bytes of all files of the index.
TEST_F(Search, PurgedWordsAreInNoFile) {
  auto left = [&](std::string_view word) {
    for (const auto& file : std::filesystem::directory_iterator(directory_)) {
      std::ifstream in(file.path(), std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
      if (bytes.find(word) != std::string::npos) return true;
    }
    return false;
  };
  open();
  std::vector<SearchEntry> gone;
  for (std::uint64_t i = 1; i <= 400; ++i) {
    SearchEntry entry{i, i % 2 == 0 ? "kept marigold" + std::to_string(i) : "petunia" + std::to_string(i)};
    add({entry});
    if (i % 2 != 0) gone.push_back(entry);
  }
  ASSERT_TRUE(index_->remove(gone).has_value());
  EXPECT_TRUE(left("etunia")) << "or this shows nothing";
  auto purged = index_->purge();
  ASSERT_TRUE(purged.has_value()) << purged.error().message;
  EXPECT_FALSE(left("etunia"));
  EXPECT_EQ(find("kept").size(), 50U);
  EXPECT_EQ(find("marigold400"), Positions{400});
  add({{401, "kept on"}});
  EXPECT_EQ(find("on"), Positions{401});
}

TEST_F(Search, KnowsOrAndNot) {
  open();
  add({{1, "red apple"}, {2, "green apple"}, {3, "red pear"}, {4, "this or that"}});
  EXPECT_EQ(find("apple OR pear"), (Positions{3, 2, 1}));
  EXPECT_EQ(find("red apple OR pear"), (Positions{3, 1})) << "OR binds closer";
  EXPECT_EQ(find("apple -red"), (Positions{2}));
  EXPECT_EQ(find("red OR green -\"red pear\""), (Positions{2, 1}));
  EXPECT_EQ(find("OR"), (Positions{4})) << "alone it is a word";
  EXPECT_EQ(find("that OR"), (Positions{4}));
  EXPECT_EQ(find("-pear"), (Positions{3})) << "nothing to subtract from: text";
  EXPECT_EQ(find("apple \xe2\x80\xa6"), (Positions{2, 1})) << "punctuation beyond ASCII is no word either";
}

TEST_F(Search, PagesNewestFirst) {
  open();
  std::vector<SearchEntry> entries;
  for (std::uint64_t n = 1; n <= 100; ++n) entries.push_back({n, "event " + std::to_string(n)});
  add(entries);
  EXPECT_EQ(find("event", 0, 3), (Positions{100, 99, 98}));
  EXPECT_EQ(find("event", 98, 2), (Positions{97, 96}));
  EXPECT_EQ(find("event", 1, 2), (Positions{}));
  EXPECT_EQ(find("event", UINT64_MAX, 1), (Positions{100}));
}

TEST_F(Search, RefusesOnlyEmptyAndTooLong) {
  open();
  for (const char* empty : {"", "  ", "\n\t"}) EXPECT_EQ(index_->search(empty, 0, 5).error().reason, "empty_query");
  EXPECT_TRUE(index_->search(std::string(kMaxQueryBytes, 'x'), 0, 5).has_value());
  EXPECT_EQ(index_->search(std::string(kMaxQueryBytes + 1, 'x'), 0, 5).error().code, ErrorCode::invalid_argument);
}

TEST_F(Search, OddInputIsNeverAnError) {
  open();
  add({{1, "some text"}});
  using namespace std::string_view_literals;
  for (auto odd :
       {"\""sv,       "\"\"\""sv,  "a\"b"sv,  "(a"sv,  "a)"sv,      "NEAR(a b)"sv, "text:x"sv,   "^a"sv,
        "a+b"sv,      "*"sv,       "**"sv,    "-"sv,   "- a"sv,     "--"sv,        "-\"\""sv,    "-*"sv,
        "OR OR OR"sv, "a OR -b"sv, "a AND"sv, "NOT"sv, "{a b}:c"sv, "a\0b"sv,      "\"a\0b\""sv, "\xff\xfe"sv,
        "\xe2\x80"sv, "';--"sv,    "\\"sv,    "?1"sv,  "a OR"sv}) {
    EXPECT_TRUE(index_->search(odd, 0, 5).has_value()) << odd;
  }
  for (const char* piece : {"a ", "a OR ", "-a ", "\"a\"* ", "\" "}) {
    std::string many;
    while (many.size() + std::string_view(piece).size() <= kMaxQueryBytes) many += piece;
    auto found = index_->search(many, 0, 5);
    EXPECT_TRUE(found.has_value()) << piece << ": " << found.error().message;
  }
  SeededRandom random(42);
  constexpr std::string_view kPieces = "ab \"*-()^:+O R\0\xc3\xa9'%{},.";
  for (int round = 0; round < 3000; ++round) {
    std::string query = "x";
    for (auto n = random.below(30); n > 0; --n) query += kPieces[random.below(kPieces.size())];
    auto found = index_->search(query, 0, 5);
    ASSERT_TRUE(found.has_value()) << "seed 42, round " << round << ": " << query << ": " << found.error().message;
  }
}

TEST_F(Search, RemembersAcrossRestarts) {
  open();
  add({{1, "kept"}});
  ASSERT_TRUE(index_->add({}, 7).has_value());
  open();
  EXPECT_EQ(index_->indexed_through().value(), 7U);
  EXPECT_EQ(find("kept"), (Positions{1}));
  struct stat facts{};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(Search, AddingAgainChangesNothing) {
  open();
  add({{1, "once"}, {2, "once"}});
  add({{1, "once"}, {2, "once"}});
  EXPECT_EQ(find("once"), (Positions{2, 1}));
}

TEST_F(Search, RemovesEventsEvenTwice) {
  open();
  add({{1, "secret plan"}, {2, "secret plan"}, {3, "other plan"}});
  for (int time = 0; time < 5; ++time) {
    auto removed = index_->remove({{1, "secret plan"}, {2, "secret plan"}, {99, "never there"}});
    ASSERT_TRUE(removed.has_value()) << removed.error().message;
    EXPECT_EQ(find("secret"), (Positions{}));
    EXPECT_EQ(find("plan"), (Positions{3}));
  }
  add({{4, "secret again"}});
  EXPECT_EQ(find("secret"), (Positions{4}));
}

TEST_F(Search, StartsOverWhenAheadOfTheStore) {
  open();
  add({{1, "old past"}, {50, "old past"}});
  open(49);
  EXPECT_EQ(index_->indexed_through().value(), 0U);
  EXPECT_EQ(find("past"), (Positions{}));
  add({{1, "new past"}});
  open(1);
  EXPECT_EQ(find("past"), (Positions{1}));
}

TEST_F(Search, StartsOverFromWhatIsNotItsFile) {
  std::ofstream(path_) << std::string(10'000, 'x');
  open();
  EXPECT_EQ(index_->indexed_through().value(), 0U);
  add({{1, "fresh"}});
  EXPECT_EQ(find("fresh"), (Positions{1}));
  damage("PRAGMA user_version=99");
  open();
  EXPECT_EQ(index_->indexed_through().value(), 0U);
  EXPECT_EQ(find("fresh"), (Positions{}));
}

TEST_F(Search, StartsOverWhenCorruptionShowsWhileRunning) {
  open();
  std::vector<SearchEntry> entries;
  for (std::uint64_t n = 1; n <= 3000; ++n) entries.push_back({n, "word" + std::to_string(n * 7919) + " common"});
  add(entries);
  damage("UPDATE entries_data SET block = x'00' WHERE id > 10");  // damages the words but not counts and structure
  open();
  bool started_over = false;
  for (int time = 0; time < 5 && !started_over; ++time) {
    bool found = index_->search("common", 0, 500).has_value();
    bool added = index_->add({{4000, "after"}}, 4000).has_value();
    EXPECT_FALSE(found && added);
    started_over = index_->indexed_through().value() == 0;
  }
  ASSERT_TRUE(started_over);
  add({{1, "rebuilt"}});
  EXPECT_EQ(find("rebuilt"), (Positions{1}));
}

TEST_F(Search, SaysWhyItCannotOpen) {
  auto opened = open_sqlite_search_index(directory_ / "missing" / "search.db", 0);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
}

TEST_F(Search, ManyMaySearchWhileOneAdds) {
  open();
  std::atomic<bool> stop{false};
  std::vector<std::thread> searchers;
  for (int i = 0; i < 3; ++i) {
    searchers.emplace_back([&] {
      while (!stop) {
        auto found = index_->search("event", 0, 10);
        ASSERT_TRUE(found.has_value()) << found.error().message;
        auto through = index_->indexed_through().value();
        ASSERT_LE(found->empty() ? 0 : found->front(), through + 50) << "one batch ahead at most";
      }
    });
  }
  for (std::uint64_t n = 1; n <= 1000; n += 50) {
    std::vector<SearchEntry> entries;
    for (std::uint64_t i = n; i < n + 50; ++i) entries.push_back({i, "event"});
    add(entries);
  }
  stop = true;
  for (auto& searcher : searchers) searcher.join();
  EXPECT_EQ(find("event", 0, 1), (Positions{1000}));
}

}  // namespace
}  // namespace shepherd
