#include <gtest/gtest.h>

#include "driver/grpc/grpc_agent.h"
#include "driver/test_golden.h"
#include "driver/test_judgement.h"
#include "driver/test_review.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

// The driver's verdict over a recording; what it makes of it is in `out`.
Verdict translate_messages(const std::string& recording, GrpcAgent& driver, Actions& out) {
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.deltas = true;
  EXPECT_TRUE(driver.launch(launch).has_value());
  std::int64_t now_ms = kRecordingStart;
  for (const auto& line : lines_of(recording)) {
    driver.record(line, now_ms, out);
    now_ms += 40;
  }
  return driver.finish({}, now_ms, out);
}

// Everything the driver makes of a recording, a line each.
std::string translated(const std::string& recording) {
  GrpcAgent driver;
  Actions out;
  Verdict verdict = translate_messages(recording, driver, out);
  std::string lines;
  for (const auto& sent : out.events()) {
    DriverEvent event = as_kept(sent);
    lines.append(event.json, 0, event.json.size() - 1);
    if (!event.detail.empty()) lines.append(",\"detail\":").append(detail_names(event.detail));
    lines.append("}\n");
  }
  for (const auto& delta : out.deltas()) {
    write_object(lines, [&](JsonObject& object) {
      object.text("delta", delta.block);
      object.text("text", delta.text);
    });
    lines.push_back('\n');
  }
  for (const auto& update : out.commands()) {
    lines.append(encode_command_result(update.id, update.state, update.reason)).push_back('\n');
  }
  write_object(lines, [&](JsonObject& object) {
    object.text("verdict", name(verdict.state));
    object.text("message", verdict.message);
    object.number("records", driver.hints().records);
  });
  return lines + "\n";
}

TEST(GrpcGolden, EveryRecordingTranslatesAsExpected) {
  const char* asked = std::getenv("SHEPHERD_UPDATE_GOLDEN");
  bool updating = asked != nullptr && std::string_view(asked) == "1";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder("grpc") / "recordings")) {
    ++count;
    SCOPED_TRACE(entry.path().filename().string());
    std::string found = translated(read_file(entry.path()));
    auto path = golden_folder("grpc") / "expected" / entry.path().filename();
    if (updating) {
      std::ofstream(path, std::ios::binary) << found;
      continue;
    }
    EXPECT_EQ(found, read_file(path)) << "see tests/golden/grpc/README.md for how to update";
  }
  EXPECT_GE(count, 10U);
}

TEST(GrpcReview, EverySummaryIsForPeople) {
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder("grpc") / "recordings")) {
    SCOPED_TRACE(entry.path().filename().string());
    GrpcAgent driver;
    Actions out;
    translate_messages(read_file(entry.path()), driver, out);
    for (const auto& event : out.events()) {
      std::string summary = text_member(event.json, "summary");
      std::vector<std::string> ids{text_member(event.json, "callID"), text_member(event.json, "traceID"),
                                   text_member(event.json, "spanID")};
      for (const auto& fault : faults_of(summary, ids)) ADD_FAILURE() << fault << ": " << summary;
      EXPECT_FALSE(summary.empty()) << event.json;
    }
  }
}

TEST(GrpcReview, RecordingsAreAsReviewed) {
  std::map<std::string, Review> reviewed = read_reviews("grpc");
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder("grpc") / "recordings")) {
    ++count;
    std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    ASSERT_TRUE(reviewed.contains(name)) << "read it and say what people should see";
    const Review& review = reviewed[name];
    GrpcAgent driver;
    Translation translation;
    translation.verdict = translate_messages(read_file(entry.path()), driver, translation.out);
    expect_calls_and_end(translation, review);
    expect_quotes_seen(translation, review.seen);
    const auto& events = translation.out.events();
    auto fatal = std::ranges::find_if(events, is_fatal);
    EXPECT_EQ(fatal == events.end() ? "-" : text_member(data_of(*fatal), "code"), review.error);
  }
  EXPECT_EQ(reviewed.size(), count) << "a line is about no recording";
}

// A failed run ends with one fatal error, which says what the verdict says.
TEST(GrpcReview, AFailedRunHasOneFatalError) {
  std::size_t failures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder("grpc") / "recordings")) {
    SCOPED_TRACE(entry.path().filename().string());
    GrpcAgent driver;
    Actions out;
    Verdict verdict = translate_messages(read_file(entry.path()), driver, out);
    std::vector<std::string> fatal;
    for (const auto& event : out.events()) {
      if (find_member(find_member(event.json, "data"), "fatal") == "true") {
        fatal.push_back(text_member(event.json, "summary"));
      }
    }
    bool failed = verdict.state == State::failed;
    failures += failed ? 1 : 0;
    EXPECT_EQ(fatal, failed ? std::vector{verdict.message} : std::vector<std::string>());
  }
  EXPECT_GE(failures, 2U) << "one agent said why it failed, another ended its stream";
}

}  // namespace
}  // namespace shepherd
