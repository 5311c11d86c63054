#include <gtest/gtest.h>

#include <set>

#include "driver/opencode/opencode_server.h"
#include "driver/recorded_line.h"
#include "driver/test_golden.h"
#include "driver/test_recording.h"
#include "driver/test_review.h"
#include "json/scan.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

struct ServerRecording {
  std::string name;
  std::vector<std::string> records;
  std::vector<std::int64_t> times;
};

std::vector<ServerRecording> server_recordings() {
  std::vector<ServerRecording> all;
  for (const char* name : {"opencode-serve-01-steer-abort", "opencode-serve-02-permissions",
                           "opencode-serve-03-errors-question-subagent"}) {
    ServerRecording recording;
    recording.name = name;
    auto path = golden_folder("opencode") / "recordings" / (std::string(name) + ".jsonl");
    for (const auto& line : lines_of(read_file(path))) {
      auto recorded = recorded_line(line);
      if (!recorded || !recorded->from_agent()) continue;
      recording.records.push_back(recorded->text);
      recording.times.push_back(recorded->at_ms);
    }
    all.push_back(std::move(recording));
  }
  return all;
}

// The service was ended when its recording was over, as a link ends it when the work is done.
Translation translate_server(const ServerRecording& recording) {
  Translation result;
  OpenCodeServer driver;
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.deltas = true;
  EXPECT_TRUE(driver.launch(launch).has_value());
  for (std::size_t i = 0; i < recording.records.size(); ++i) {
    driver.record(recording.records[i], kRecordingStart + recording.times[i], result.out);
  }
  std::int64_t end = kRecordingStart + recording.times.back();
  result.verdict = driver.finish({}, end, result.out);
  result.hints = driver.hints();
  return result;
}

TEST(OpenCodeServerGolden, EveryRecordingTranslatesAsExpected) {
  for (const auto& recording : server_recordings()) {
    SCOPED_TRACE(recording.name);
    expect_golden("opencode", recording.name, golden_lines(translate_server(recording)));
  }
}

TEST(OpenCodeServerGolden, EverythingThatItSaysIsKnown) {
  for (const auto& recording : server_recordings()) {
    auto translation = translate_server(recording);
    EXPECT_EQ(std::ranges::count(translation.out.events(), EventType::log, &DriverEvent::type), 0) << recording.name;
  }
}

TEST(OpenCodeServerGolden, EveryEventPassesTheDoorUnderItsOwnId) {
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  intake.now_ms = kRecordingStart;
  std::map<std::string, int> ids;
  for (const auto& recording : server_recordings()) {
    SCOPED_TRACE(recording.name);
    for (const auto& event : translate_server(recording).out.take_events()) {
      std::string posted;
      append_posted(posted, event, 7);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 500);
      std::string id = text_member(event.json, "eventID");
      if (!id.empty()) {
        EXPECT_EQ(++ids[id], 1) << id;
      }
    }
  }
}

TEST(OpenCodeServerReview, AsAPersonReadTheRecordings) {
  auto reviewed = read_reviews("opencode");
  std::erase_if(reviewed, [](const auto& each) { return !each.first.starts_with("opencode-serve"); });
  auto recordings = server_recordings();
  expect_each_reviewed(reviewed, recordings);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    Translation translation = translate_server(recording);
    expect_calls_and_end(translation, reviewed[recording.name]);
    expect_summaries_for_people(translation);
    expect_one_fatal_error(translation, reviewed[recording.name]);
    expect_quotes_seen(translation, reviewed[recording.name].seen);
  }
}

// Each call and each result once, however often the service sends the part.
TEST(OpenCodeServerReview, ACallAndItsResultAreToldOnce) {
  for (const auto& recording : server_recordings()) {
    std::map<std::string, int> calls, results;
    for (const auto& event : translate_server(recording).out.take_events()) {
      std::string call = text_member(event.json, "callID");
      if (event.type == EventType::tool_call) ++calls[call];
      if (event.type == EventType::tool_result) ++results[call];
    }
    for (const auto& [call, times] : calls) EXPECT_EQ(times, 1) << call;
    EXPECT_EQ(calls, results) << recording.name;
  }
}

TEST(OpenCodeServerReview, LiveTextIsTheFinishedText) {
  Translation translation = translate_server(server_recordings().front());
  std::map<std::string, std::string> live, finished;
  for (const auto& delta : translation.out.deltas()) live[delta.block] += delta.text;
  for (const auto& event : translation.out.events()) {
    if (event.type == EventType::thinking) {
      finished[text_member(event.json, "eventID")] = text_member(data_of(event), "text");
    }
  }
  EXPECT_GE(live.size(), 4U);
  for (const auto& [block, text] : live) EXPECT_EQ(finished[block], text) << block;
}

// What a sub-agent does is told as part of the call that started it; its session ends no turn.
TEST(OpenCodeServerReview, ASubAgentBelongsToItsCall) {
  Translation translation = translate_server(server_recordings().back());
  std::string call;
  std::size_t inside = 0;
  for (const auto& event : translation.out.events()) {
    if (event.type == EventType::tool_call && text_member(event.json, "tool") == "task") {
      call = text_member(event.json, "callID");
    }
    std::string parent = text_member(event.json, "parentCallID");
    if (parent.empty()) continue;
    EXPECT_EQ(parent, call);
    ++inside;
  }
  EXPECT_EQ(inside, 2U) << "its task and its answer";
  EXPECT_EQ(translation.hints.turns, 3U);
}

// Of a session that is not ours nothing is told.
TEST(OpenCodeServerProperty, OtherSessionsOfTheDirectoryAreNotHeard) {
  auto recordings = server_recordings();
  auto one = translate_server(recordings[0]);
  ServerRecording mixed = recordings[0];
  for (std::size_t i = 0; i < recordings[1].records.size(); ++i) {
    if (recordings[1].records[i].starts_with(R"({"answer")")) continue;  // those are answers to another client
    mixed.records.push_back(recordings[1].records[i]);
    mixed.times.push_back(recordings[1].times[i]);
  }
  auto two = translate_server(mixed);
  ASSERT_EQ(one.out.events().size(), two.out.events().size());
}

TEST(OpenCodeServerProperty, UnknownMembersChangeNothingAndUnknownEventsAreKept) {
  for (const auto& recording : server_recordings()) {
    ServerRecording more = recording;
    for (auto& record : more.records) record = R"({"new":[{"a":{}}],)" + record.substr(1);
    auto plain = translate_server(recording), with = translate_server(more);
    ASSERT_EQ(plain.out.events().size(), with.out.events().size());
    for (std::size_t i = 0; i < plain.out.events().size(); ++i) {
      EXPECT_EQ(plain.out.events()[i].json, with.out.events()[i].json);
    }
  }
  OpenCodeServer driver;
  Actions out;
  driver.record(R"({"event":{"type":"weather.changed","properties":{}}})", kRecordingStart, out);
  ASSERT_EQ(out.events().size(), 1U);
  EXPECT_EQ(out.events()[0].type, EventType::log);
  EXPECT_NE(out.events()[0].detail.find("weather.changed"), std::string::npos);
}

TEST(OpenCodeServerProperty, DamagedRecordsNeverPoisonTheLog) {
  std::mt19937_64 random(test_seed());
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  for (auto recording : server_recordings()) {
    for (auto& record : recording.records) {
      constexpr std::string_view kNasty = "{}[]\",:\\u0\x01 n";
      for (int damage = 0; damage < 2; ++damage) record[random() % record.size()] = kNasty[random() % kNasty.size()];
    }
    for (const auto& event : translate_server(recording).out.take_events()) {
      std::string posted;
      append_posted(posted, event, 0);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 1000);
    }
  }
}

}  // namespace
}  // namespace shepherd
