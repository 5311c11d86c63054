#include "json/number.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

namespace shepherd {
namespace {

bool another_reader_takes(const std::string& number) {
  simdjson::dom::parser parser;
  return parser.parse(simdjson::padded_string(number)).error() == simdjson::SUCCESS;
}

// Of a whole token, both readers say the same.
TEST(JsonNumber, IsWhatAnotherReaderTakes) {
  for (const char* number : {"0",
                             "-0",
                             "7",
                             "-12",
                             "0.5",
                             "-2.5e3",
                             "1E9",
                             "1e+5",
                             "1e-5",
                             "2.50",
                             "123456789012345678",
                             "1234567890123456789",
                             "9223372036854775807",
                             "9223372036854775808",
                             "-9223372036854775808",
                             "-9223372036854775809",
                             "18446744073709551615",
                             "18446744073709551616",
                             "123456789012345678901234567890",
                             "123456789012345678901234567890.5",
                             "999999999999999999e99",
                             "1e308",
                             "1e309",
                             "-1e400",
                             "1e-400",
                             "0e999",
                             "00",
                             "01",
                             "-01",
                             "-",
                             "+1",
                             ".5",
                             "1.",
                             "1.e5",
                             "1e",
                             "1e+",
                             "--1",
                             "-a",
                             "Infinity",
                             "NaN",
                             "0x10"}) {
    bool takes = number_length(number) == std::string_view(number).size();
    EXPECT_EQ(takes, another_reader_takes(number)) << number;
  }
}

TEST(JsonNumber, EndsWhereItsGrammarEnds) {
  EXPECT_EQ(number_length("12,13"), 2U);
  EXPECT_EQ(number_length("1.5.5"), 3U);
  EXPECT_EQ(number_length("-2e3}"), 4U);
  EXPECT_EQ(number_length(""), 0U);
  EXPECT_EQ(number_length("x1"), 0U);
}

}  // namespace
}  // namespace shepherd
