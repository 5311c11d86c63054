#include "json/slices.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/random.h"

namespace shepherd {
namespace {

bool looked_into(std::string_view key, std::string_view) {
  return key == "a" || key == "c";
}

// What another reader makes of it: the record without its blanks; empty when it is none.
std::string as_another_reads(const std::string& line) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(simdjson::padded_string(line)).get(root) != simdjson::SUCCESS) return {};
  if (!root.is_object() && !root.is_array()) return {};
  std::string compact(line.size(), '\0');
  std::size_t size = 0;
  if (simdjson::minify(line.data(), line.size(), compact.data(), size) != simdjson::SUCCESS) return {};
  compact.resize(size);
  return compact;
}

// Texts that are almost JSON, compact or not: the walk must take exactly what simdjson's own parser takes.
TEST(JsonSlices, TakesWhatAnotherReaderTakes) {
  auto seed = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  const std::vector<std::string> texts{
      R"({"a":{"b":[1,-2.5e3,true,null,{}],"c":"x\ny"},"d":[[],[0]],"e":"\"\\/"})",
      R"([ {"c" : "é" , "a":[ false ,"", 12345678901234567] }, {} , [ ] ])",
      R"({"z":{"y":{"x":[[1,2],{"w":"v\t"}]}},"c":0.1,"a":1E9})",
  };
  const std::string bytes = "{}[],:\"\\ \t019-+.eEtruefalsn\xc3\xa9\x01";
  JsonSlices slices;
  std::size_t taken = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string line = texts[random.below(texts.size())];
    for (std::uint64_t change = random.below(3); change > 0; --change) {
      std::size_t at = random.below(line.size());
      char byte = bytes[random.below(bytes.size())];
      switch (random.below(3)) {
        case 0:
          line[at] = byte;
          break;
        case 1:
          line.insert(at, 1, byte);
          break;
        default:
          line.erase(at, 1 + random.below(3));
          break;
      }
    }
    std::string expected = as_another_reads(line);
    ASSERT_EQ(slices.parse(line, looked_into), !expected.empty()) << line;
    ASSERT_EQ(slices.text(), expected) << line;
    taken += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(taken, 10'000U) << "most were not even tried";
}

}  // namespace
}  // namespace shepherd
