#include "hooks/hook_settings.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace shepherd {
namespace {

namespace json = boost::json;

const std::string kCommand = hook_command("/opt/bin/shepherd", "");

json::value parsed(const std::string& text) {
  return json::parse(text);
}

TEST(HookSettings, FromNothing) {
  for (const char* nothing : {"", " \n", "{}", "{\n}\n"}) {
    std::string text = with_hooks(nothing, kCommand).value();
    json::value value = parsed(text);
    EXPECT_EQ(value.at("hooks").at("PreToolUse").at(0).at("hooks").at(0).at("command").as_string(),
              "'/opt/bin/shepherd' hook send");
    EXPECT_TRUE(value.at("hooks").as_object().contains("SessionEnd"));
  }
}

TEST(HookSettings, TwiceIsOnceAndOutIsAsBefore) {
  for (const std::string before : {
           "{\n  \"model\": \"opus\"\n}\n",
           "{\"big\": 1.000, \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say "
           "done\"}]}]}}",
           "{\"hooks\": {}, \"permissions\": {\"allow\": [\"Bash(ls)\"]}}",
       }) {
    std::string once = with_hooks(before, kCommand).value();
    EXPECT_NE(once, before);
    EXPECT_EQ(with_hooks(once, kCommand).value(), once);
    std::string out = without_hooks(once).value();
    json::value left = parsed(out);
    json::value wanted = parsed(before);
    // Removing our hooks leaves an empty list, which is removed too.
    const json::value* hooks = wanted.as_object().if_contains("hooks");
    if (hooks != nullptr && hooks->as_object().empty()) wanted.as_object().erase("hooks");
    EXPECT_EQ(left, wanted) << out;
    EXPECT_EQ(without_hooks(out).value(), out);
  }
}

TEST(HookSettings, OtherMembersKeepTheirBytes) {
  std::string before = "{\n\t\"a\" :1.50,\n  \"hooks\": {\"Stop\": []},\n  \"z\":\t[ 1 ]\n}";
  std::string after = with_hooks(before, kCommand).value();
  EXPECT_TRUE(after.starts_with("{\n\t\"a\" :1.50,\n  \"hooks\": {")) << after;
  EXPECT_TRUE(after.ends_with(",\n  \"z\":\t[ 1 ]\n}")) << after;
  std::string plain = "{\n\t\"a\" :1.50\n}\n";
  EXPECT_EQ(without_hooks(with_hooks(plain, kCommand).value()).value(), plain);
}

// Other hooks that share a group with ours, or whose command looks similar, stay.
TEST(HookSettings, OnlyOwnHooksGo) {
  std::string before =
      R"({"hooks":{"Stop":[{"hooks":[{"type":"command","command":"'/x/shepherd' hook send"},{"type":"command","command":"mine"}]},)"
      R"({"matcher":"","hooks":[{"type":"command","command":"webhook send"}]},{"hooks":[]}]}})";
  json::value left = parsed(without_hooks(before).value());
  EXPECT_EQ(json::serialize(left.at("hooks").at("Stop")),
            R"([{"hooks":[{"type":"command","command":"mine"}]},)"
            R"({"matcher":"","hooks":[{"type":"command","command":"webhook send"}]},{"hooks":[]}])");
}

TEST(HookSettings, AMovedProgramReplacesTheOldCommand) {
  std::string old = with_hooks("", hook_command("/old/shepherd", "")).value();
  std::string text = with_hooks(old, kCommand).value();
  EXPECT_EQ(text.find("/old/"), std::string::npos);
  EXPECT_EQ(parsed(text).at("hooks").at("Stop").as_array().size(), 1u);
}

TEST(HookSettings, WhatIsNotUnderstoodIsLeftAlone) {
  for (const char* bad : {"[]", "{\"hooks\":[]}", "{\"hooks\":{\"Stop\":{}}}", "{// comment\n}", "{"}) {
    EXPECT_FALSE(with_hooks(bad, kCommand)) << bad;
    EXPECT_FALSE(without_hooks(bad)) << bad;
  }
}

TEST(HookSettings, AProgramWithSpacesAndQuotesIsOneWord) {
  EXPECT_EQ(hook_command("/a b/it's shepherd", "--data '/x'"), R"('/a b/it'\''s shepherd' hook send --data '/x')");
}

}  // namespace
}  // namespace shepherd
