#include "driver/claude/transcript.h"

#include <algorithm>

#include "base/clock.h"
#include "driver/claude/claude_code.h"
#include "driver/event_json.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr std::string_view kInterrupted = "[Request interrupted by user";

// A line with its place in time: that of its own file's newest timestamp so far, because files are in order even where
// their clocks are not, and some lines have no time.
struct PlacedLine {
  std::int64_t at_ms = 0;
  std::size_t file = 0;
  std::string_view text;
};

std::vector<PlacedLine> placed_lines(const std::vector<TranscriptFile>& files) {
  std::vector<PlacedLine> lines;
  for (std::size_t file = 0; file < files.size(); ++file) {
    std::int64_t newest_ms = 0;
    for (const std::string& line : files[file].lines) {
      if (auto time = parse_timestamp(text_member(line, "timestamp"))) newest_ms = std::max(newest_ms, *time);
      lines.push_back({newest_ms, file, line});
    }
  }
  // The session's own file comes first where times are equal: a call before what happens inside it.
  std::ranges::stable_sort(lines, [](const PlacedLine& a, const PlacedLine& b) { return a.at_ms < b.at_ms; });
  return lines;
}

// Threads: caller.
class TranscriptReader {
 public:
  explicit TranscriptReader(const std::vector<TranscriptFile>& files) : files_(files) {}

  ImportedSession read() {
    Launch launch;
    launch.id = "import";
    launch.prompt = "recorded";
    launch.options.emplace(kOutputFormatOption, name(OutputFormat::stream));
    if (!driver_.launch(launch)) return std::move(session_);
    std::vector<PlacedLine> lines = placed_lines(files_);
    for (const PlacedLine& line : lines) take(line);
    Actions rest;
    driver_.finish({}, session_.last_ms, rest);
    add_events(session_, std::move(rest));
    if (session_.events.empty()) return std::move(session_);
    session_.session_id = driver_.hints().session_id;
    add_start();
    conclude();
    return std::move(session_);
  }

 private:
  void take(const PlacedLine& line) {
    if (line.at_ms > 0) {
      if (session_.first_ms == 0) session_.first_ms = line.at_ms;
      session_.last_ms = std::max(session_.last_ms, line.at_ms);
    }
    bool own = files_[line.file].parent_call.empty();
    if (own) look(line.text);
    driver_.set_parent_call(files_[line.file].parent_call);
    Actions out;
    driver_.record(line.text, session_.last_ms, out);
    for (const DriverEvent& event : out.events()) {
      if (own && event.type != EventType::usage) last_own_ = event.type;
    }
    add_events(session_, std::move(out));
  }

  // What a task says about itself.
  void look(std::string_view line) {
    std::string type = text_member(line, "type");
    if (session_.cwd.empty()) session_.cwd = text_member(line, "cwd");
    if (type != "user" && type != "assistant") return;
    std::string_view message = find_member(line, "message");
    if (type == "assistant") {
      std::string model = text_member(message, "model");
      if (!model.empty() && model != "<synthetic>") session_.model = model;
      ends_with_ = text_member(message, "stop_reason");
      interrupted_ = false;
      return;
    }
    std::string_view content = find_member(message, "content");
    interrupted_ = content.find(kInterrupted) != std::string_view::npos;
    ends_with_.clear();
    bool typed = content.starts_with('"') && find_member(line, "isMeta") != "true" && !content.starts_with("\"<");
    if (typed && session_.prompt.empty()) session_.prompt = string_value(content).value_or("");
  }

  void add_start() {
    std::string data = object_text([&](JsonObject& object) {
      object.text_unless_empty("cwd", event_text(session_.cwd));
      object.text_unless_empty("model", session_.model.substr(0, kMaxAgentIdBytes));
      object.text("source", "transcript");
    });
    EventParts parts;
    parts.type = EventType::session_start;
    parts.timestamp_ms = session_.first_ms;
    parts.session_id = session_.session_id;
    std::string summary = "Session started" + (session_.cwd.empty() ? "" : " in " + session_.cwd);
    parts.summary = summary;
    parts.data = data;
    parts.event_id = "start";
    session_.events.insert(session_.events.begin(), {session_.first_ms, make_event(parts)});
    name_the_nameless(session_);
  }

  void conclude() {
    if (interrupted_) {
      session_.state = State::cancelled;
      session_.message = "Interrupted";
    } else if (last_own_ == EventType::error) {
      session_.state = State::failed;
      session_.message = "The session ended with an error";
    } else if (last_own_ == EventType::tool_call || ends_with_ == "tool_use") {
      session_.state = State::failed;
      session_.message = "The transcript breaks off in the middle of a turn";
    } else {
      session_.message = "Session ended";
    }
  }

  const std::vector<TranscriptFile>& files_;
  ClaudeCode driver_;
  ImportedSession session_;
  EventType last_own_ = EventType::log;  // of the session's own file
  std::string ends_with_;                // stop reason of the newest message, when nothing followed it
  bool interrupted_ = false;             // the newest line of the session says so
};

}  // namespace

ImportedSession read_claude_transcript(const std::vector<TranscriptFile>& files) {
  return TranscriptReader(files).read();
}

}  // namespace shepherd
