#include "redact/personal_data.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redact/text_class.h"

namespace shepherd {
namespace {

// A number of this length that begins so and has the right last digit.
std::string card(std::string digits, std::size_t size) {
  while (digits.size() + 1 < size) digits += static_cast<char>('0' + digits.size() % 10);
  for (char last = '0'; last <= '9'; ++last) {
    if (is_luhn_valid(digits + last)) return digits + last;
  }
  return {};
}

// The lengths at which a number that begins so is a card.
std::vector<std::size_t> lengths_of(int first_four) {
  std::vector<std::size_t> found;
  for (std::size_t size = 12; size <= 20; ++size) {
    std::string number = card(std::to_string(first_four), size);
    if (card_at(number, 0)) found.push_back(size);
  }
  return found;
}

TEST(Cards, IssuersHaveTheirRangesAndLengths) {
  using Lengths = std::vector<std::size_t>;
  const Lengths visa{13, 16, 19}, mastercard{16}, amex{15}, four{16, 17, 18, 19}, diners{14, 15, 16, 17, 18, 19}, none;
  struct Case {
    int first_four;
    Lengths lengths;
  };
  for (const auto& [first, lengths] :
       std::vector<Case>{{2220, none},   {2221, mastercard}, {2720, mastercard}, {2721, none},       {2999, none},
                         {3000, diners}, {3059, diners},     {3060, none},       {3399, none},       {3400, amex},
                         {3499, amex},   {3500, none},       {3527, none},       {3528, four},       {3589, four},
                         {3590, none},   {3599, none},       {3600, diners},     {3699, diners},     {3700, amex},
                         {3799, amex},   {3800, diners},     {3999, diners},     {4000, visa},       {4999, visa},
                         {5000, none},   {5099, none},       {5100, mastercard}, {5599, mastercard}, {5600, none},
                         {6010, none},   {6011, four},       {6012, none},       {6199, none},       {6200, four},
                         {6299, four},   {6300, none},       {6439, none},       {6440, four},       {6599, four},
                         {6600, none},   {1999, none}}) {
    EXPECT_EQ(lengths_of(first), lengths) << first;
  }
}

TEST(Cards, GroupsAreRegularAndAlikeSeparated) {
  const std::string number = card("4111", 16), amex = card("3782", 15), long_one = card("6011", 19);
  auto grouped = [](const std::string& digits, std::initializer_list<std::size_t> groups, const std::string& between) {
    std::string out;
    std::size_t at = 0;
    for (std::size_t size : groups) {
      if (!out.empty()) out += between;
      out += digits.substr(at, size);
      at += size;
    }
    return out;
  };
  auto end = [](const std::string& text) {
    auto found = card_at(text, 0);
    return found ? found->end : 0;
  };
  for (const char* between : {" ", "-"}) {
    EXPECT_EQ(end(grouped(number, {4, 4, 4, 4}, between)), 19U);
    EXPECT_EQ(end(grouped(amex, {4, 6, 5}, between)), 17U);
    EXPECT_EQ(end(grouped(long_one, {4, 4, 4, 4, 3}, between)), 23U);
    EXPECT_EQ(end(grouped(number, {8, 8}, between)), 0U);
    EXPECT_EQ(end(grouped(number, {4, 4, 6, 2}, between)), 0U);
    EXPECT_EQ(end(grouped(number, {4, 5, 7}, between)), 0U);
  }
  EXPECT_EQ(end(grouped(number, {4, 4, 4, 4}, "  ")), 0U);
  EXPECT_EQ(end(grouped(number, {4, 4, 4, 4}, ".")), 0U);
  EXPECT_EQ(end(number.substr(0, 4) + " " + number.substr(4, 4) + "-" + number.substr(8, 4) + " " + number.substr(12)),
            0U);
  EXPECT_EQ(end(number + "."), 16U);
  EXPECT_EQ(end(number + "-"), 16U);
  EXPECT_EQ(end(number + "- "), 16U);
  for (const char* after : {"a", "_", "1", ".5", "-5", "-a"}) EXPECT_EQ(end(number + after), 0U) << after;
  for (const char* before : {"a", "1", ".", "-"}) EXPECT_FALSE(card_at(before + number, 1)) << before;
  EXPECT_TRUE(card_at("\\n" + number, 2));
  EXPECT_EQ(card_at(" " + number, 1)->begin, 1U);
  EXPECT_EQ(card_at(" " + number, 1)->kind, "card");
}

TEST(Cards, TheQuickLookSeesEachWherever) {
  for (const std::string& number : {card("4111", 13), card("4111", 16), card("6011", 19)}) {
    for (std::size_t before = 0; before < 20; ++before) {
      EXPECT_TRUE(may_have_card(std::string(before, 'x') + " " + number)) << before;
      EXPECT_TRUE(may_have_card(std::string(before, 'x') + " " + number + " x")) << before;
      EXPECT_FALSE(may_have_card(std::string(before, 'x') + " " + number.substr(0, 12) + "x")) << before;
    }
  }
  EXPECT_FALSE(may_have_card("1771423200123 ")) << "no issuer begins with it";
  EXPECT_FALSE(may_have_card(""));
}

TEST(Luhn, EveryDigitCounts) {
  EXPECT_TRUE(is_luhn_valid("0"));
  EXPECT_TRUE(is_luhn_valid("18"));
  EXPECT_TRUE(is_luhn_valid("26"));
  EXPECT_TRUE(is_luhn_valid("34"));
  EXPECT_TRUE(is_luhn_valid("42"));
  EXPECT_TRUE(is_luhn_valid("59"));
  EXPECT_TRUE(is_luhn_valid("67"));
  EXPECT_TRUE(is_luhn_valid("75"));
  EXPECT_TRUE(is_luhn_valid("83"));
  EXPECT_TRUE(is_luhn_valid("91"));
  EXPECT_FALSE(is_luhn_valid("19"));
  EXPECT_FALSE(is_luhn_valid("81"));
}

// The address around the @, or nothing.
std::string address(std::string_view text, std::size_t floor = 0) {
  auto found = email_at(text, text.find('@'), floor);
  return found ? std::string(text.substr(found->begin, found->end - found->begin)) : "";
}

TEST(Emails, TheNameBeforeTheSign) {
  EXPECT_EQ(address("a@b.de"), "a@b.de");
  EXPECT_EQ(address("to:a.b_c-d%e+f@b.de"), "a.b_c-d%e+f@b.de");
  EXPECT_EQ(address("..-%a@b.de"), "a@b.de");
  EXPECT_EQ(address("@b.de"), "");
  EXPECT_EQ(address(".@b.de"), "");
  EXPECT_EQ(address(std::string(64, 'a') + "@b.de"), std::string(64, 'a') + "@b.de");
  EXPECT_EQ(address(std::string(65, 'a') + "@b.de"), std::string(64, 'a') + "@b.de");
  EXPECT_EQ(address("abc@b.de", 2), "c@b.de") << "what was replaced already stays";
  for (const char* role : {"git", "noreply", "no-reply", "donotreply"}) {
    EXPECT_EQ(address(std::string(role) + "@b.de"), "");
    EXPECT_NE(address("x" + std::string(role) + "@b.de"), "");
  }
  for (const char* escape : {"\\n", "\\r", "\\t", "\\b", "\\f", "\\u000a"}) {
    EXPECT_EQ(address(std::string(escape) + "joe@b.de"), "joe@b.de") << escape;
  }
  EXPECT_EQ(address("\\xjoe@b.de"), "xjoe@b.de");
  EXPECT_EQ(address("\\u000@b.de"), "");
}

TEST(Emails, TheDomainBehindTheSign) {
  EXPECT_EQ(address("a@b.c.de."), "a@b.c.de");
  EXPECT_EQ(address("a@b.de-"), "a@b.de");
  EXPECT_EQ(address("a@b-c.de/x"), "a@b-c.de");
  EXPECT_EQ(address("a@1b.de"), "a@1b.de");
  EXPECT_EQ(address("a@b." + std::string(24, 'x')), "a@b." + std::string(24, 'x'));
  EXPECT_EQ(address("a@2xy.de"), "a@2xy.de");
  for (const std::string& text :
       {std::string("a@b"), std::string("a@b.d"), std::string("a@b..de"), std::string("a@b.d1"),
        "a@b." + std::string(25, 'x'), std::string("a@12.de"), std::string("a@2x.png"), std::string("a@-b.de"),
        std::string("a@.de"), std::string("a@")}) {
    EXPECT_EQ(address(text), "") << text;
  }
  std::string labels;
  while (labels.size() < 250) labels += "abcdefghi.";
  EXPECT_EQ(address("a@" + labels + "de").size(), 2 + 252U);
  EXPECT_EQ(address("a@" + labels + "info"), "a@" + labels + "inf") << "longer than any domain is";
}

TEST(Emails, TheQuickLookSeesEach) {
  EXPECT_TRUE(may_have_email("a@b.de"));
  EXPECT_TRUE(may_have_email("x @ y a@b.de"));
  EXPECT_FALSE(may_have_email("@b.de"));
  EXPECT_FALSE(may_have_email(" @b.de"));
  EXPECT_FALSE(may_have_email("a@b"));
  EXPECT_FALSE(may_have_email(""));
}

}  // namespace
}  // namespace shepherd
