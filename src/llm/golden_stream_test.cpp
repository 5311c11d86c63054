// Recorded answers of backends (tests/golden/llm): what is read from them, whole and cut anywhere.
#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "llm/answer_for_test.h"

namespace shepherd {
namespace {

std::filesystem::path llm_golden() {
  return std::filesystem::path(SHEPHERD_GOLDEN_DIR) / "llm";
}

std::string whole_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Recording {
  ModelDialect dialect = ModelDialect::openai;
  int status = 200;
  std::string bytes;
};

// DIALECT-SERVER-CASE.STATUS
std::map<std::string, Recording> recordings() {
  std::map<std::string, Recording> all;
  for (const auto& entry : std::filesystem::directory_iterator(llm_golden() / "recordings")) {
    Recording made;
    std::string file = entry.path().filename().string();
    if (file.starts_with("anthropic-")) made.dialect = ModelDialect::anthropic;
    if (file.starts_with("ollama-")) made.dialect = ModelDialect::ollama;
    std::string status = entry.path().extension().string();
    std::from_chars(status.data() + 1, status.data() + status.size(), made.status);
    made.bytes = whole_file(entry.path());
    all[file] = std::move(made);
  }
  return all;
}

std::string read_text(const Recording& recording, const std::vector<std::size_t>& sizes = {}) {
  if (recording.status != 200) return error_text(error_of(read_fault(recording.status, recording.bytes), "backend"));
  return answer_text(read_answer(recording.dialect, recording.bytes, sizes));
}

TEST(GoldenStream, EveryRecordingIsReadAsExpected) {
  const char* asked = std::getenv("SHEPHERD_UPDATE_GOLDEN");
  bool updating = asked != nullptr && std::string_view(asked) == "1";
  std::size_t count = 0;
  for (const auto& [name, recording] : recordings()) {
    ++count;
    auto path = llm_golden() / "expected" / (name + ".txt");
    if (updating) {
      std::ofstream(path, std::ios::binary) << read_text(recording);
      continue;
    }
    EXPECT_EQ(read_text(recording), whole_file(path)) << name << ": see tests/golden/llm/README.md for how to update";
  }
  EXPECT_GE(count, 30U);
}

TEST(GoldenStream, AnyCutGivesTheSameAnswer) {
  std::mt19937_64 random(std::random_device{}());
  for (const auto& [name, recording] : recordings()) {
    if (recording.status != 200) continue;
    std::string whole = read_text(recording);
    EXPECT_EQ(read_text(recording, {1}), whole) << name << " byte by byte";
    for (int round = 0; round < 20; ++round) {
      std::vector<std::size_t> sizes(1 + random() % 8);
      std::string shown;
      for (std::size_t& size : sizes) {
        size = 1 + random() % 200;
        shown += std::to_string(size) + " ";
      }
      ASSERT_EQ(read_text(recording, sizes), whole) << name << " in pieces of " << shown;
    }
  }
}

// A stream that ends anywhere is an answer only from its finish on; before, it is an error, and never both.
TEST(GoldenStream, AnAnswerThatEndsEarlyIsAnErrorUntilItsFinish) {
  for (const auto& [name, recording] : recordings()) {
    if (recording.status != 200) continue;
    ReadAnswer whole = read_answer(recording.dialect, recording.bytes);
    if (!whole.answer) continue;
    bool good = false;
    for (std::size_t size = 0; size < recording.bytes.size(); ++size) {
      ReadAnswer part = read_answer(recording.dialect, std::string_view(recording.bytes).substr(0, size));
      ASSERT_TRUE(!good || part.answer) << name << " at " << size << ": an answer became an error";
      good = part.answer.has_value();
      if (!good) {
        ASSERT_EQ(part.answer.error().reason, "model_broke_off") << name << " at " << size;
        ASSERT_TRUE(whole.text.starts_with(part.text) || part.text.ends_with("\uFFFD")) << name << " at " << size;
      } else {
        ASSERT_EQ(part.answer->text, whole.answer->text) << name << " at " << size;
        ASSERT_EQ(part.answer->tool_calls, whole.answer->tool_calls) << name << " at " << size;
      }
    }
  }
}

}  // namespace
}  // namespace shepherd
