// What a person who read a recording says of it, tests/golden/FOLDER/REVIEWED.tsv, and comparing a translation with it.
// Threads: caller.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "driver/event_json.h"
#include "driver/limits.h"
#include "driver/test_judgement.h"
#include "driver/test_recording.h"
#include "json/scan.h"

namespace shepherd {

// Columns: recording, calls, end, error, seen. The folder's file begins with what they mean.
struct Review {
  std::size_t calls = 0;         // `tool_call` events
  std::string end, error, seen;  // the verdict, the fatal error's code, words; "-": none
};

inline std::map<std::string, Review> read_reviews(std::string_view folder) {
  std::map<std::string, Review> all;
  for (const auto& line : lines_of(read_file(golden_folder(folder) / "REVIEWED.tsv"))) {
    if (line.starts_with("#")) continue;
    std::vector<std::string> columns{""};
    for (char c : line) {
      if (c == '\t') {
        columns.emplace_back();
      } else {
        columns.back().push_back(c);
      }
    }
    EXPECT_EQ(columns.size(), 5U) << line;
    columns.resize(5);
    Review review{std::strtoul(columns[1].c_str(), nullptr, 10), columns[2], columns[3], columns[4]};
    EXPECT_TRUE(all.emplace(columns[0], review).second) << columns[0] << " is there twice";
  }
  return all;
}

template <class Recordings>
void expect_each_reviewed(std::map<std::string, Review> reviewed, const Recordings& recordings) {
  for (const auto& recording : recordings) {
    EXPECT_EQ(reviewed.erase(recording.name), 1U) << recording.name << ": read it and say what people should see";
  }
  for (const auto& [name, review] : reviewed) ADD_FAILURE() << name << " is no recording";
}

inline std::string_view data_of(const DriverEvent& event) {
  return find_member(event.json, "data");
}

inline std::string summary_of(const DriverEvent& event) {
  return text_member(event.json, "summary");
}

inline bool is_fatal(const DriverEvent& event) {
  return event.type == EventType::error && find_member(data_of(event), "fatal") == "true";
}

inline void expect_calls_and_end(const Translation& translation, const Review& review, bool ends = true) {
  auto calls = std::ranges::count(translation.out.events(), EventType::tool_call, &DriverEvent::type);
  EXPECT_EQ(static_cast<std::size_t>(calls), review.calls);
  EXPECT_EQ(ends ? name(translation.verdict.state) : "-", review.end);
  EXPECT_FALSE(review.seen.empty());
}

inline void expect_summaries_for_people(const Translation& translation) {
  for (const auto& event : translation.out.events()) {
    std::vector<std::string> ids{text_member(find_member(data_of(event), "task"), "id"),
                                 text_member(event.json, "callID"), text_member(event.json, "parentCallID"),
                                 text_member(event.json, "sessionID")};
    std::string summary = summary_of(event);
    EXPECT_FALSE(summary.empty()) << event.json.substr(0, 300);
    // What a program prints beside its records is shown as it is.
    if (text_member(data_of(event), "stream") == "stderr") continue;
    for (const auto& fault : faults_of(summary, ids)) ADD_FAILURE() << fault << ": " << summary;
  }
}

// One error says why a run has failed, in the words of the verdict, and the agent does nothing after it.
inline void expect_one_fatal_error(const Translation& translation, const Review& review) {
  const auto& events = translation.out.events();
  bool failed = translation.verdict.state == State::failed;
  EXPECT_EQ(std::ranges::count_if(events, is_fatal), failed ? 1 : 0);
  auto fatal = std::ranges::find_if(events, is_fatal);
  EXPECT_EQ(fatal == events.end() ? "-" : text_member(data_of(*fatal), "code"), review.error);
  if (fatal == events.end()) return;
  EXPECT_EQ(summary_of(*fatal), one_line(translation.verdict.message, kTextSummaryCharacters));
  for (auto after = std::next(fatal); after != events.end(); ++after) {
    EXPECT_TRUE(after->type == EventType::usage || after->type == EventType::log) << after->json.substr(0, 200);
  }
}

// The words that a review quotes are there to be read.
inline void expect_quotes_seen(const Translation& translation, const std::string& words) {
  std::string seen = one_line(translation.verdict.message, kMaxEventTextBytes) + "\n";
  for (const auto& event : translation.out.events()) seen += summary_of(event) + "\n";
  for (std::size_t open = words.find('"'); open != std::string::npos; open = words.find('"', open)) {
    std::size_t close = words.find('"', open + 1);
    ASSERT_NE(close, std::string::npos) << "a quote does not end: " << words;
    std::string quoted = words.substr(open + 1, close - open - 1);
    EXPECT_NE(seen.find(quoted), std::string::npos) << "does not show: " << quoted << "\n" << seen;
    open = close + 1;
  }
}

}  // namespace shepherd
