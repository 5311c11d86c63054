#include "driver/gemini/gemini_stream.h"

#include <array>
#include <utility>

#include "base/clock.h"
#include "driver/call_summary.h"
#include "driver/gemini/limits.h"
#include "driver/gemini/records.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/limits.h"

namespace shepherd {
namespace {

constexpr std::array kGeminiPhrases{
    CallPhrase{"read_file", "Reading ", "file_path"},
    CallPhrase{"read_file", "Reading ", "absolute_path"},
    CallPhrase{"read_many_files", "Reading ", "include"},
    CallPhrase{"write_file", "Writing ", "file_path"},
    CallPhrase{"replace", "Editing ", "file_path"},
    CallPhrase{"run_shell_command", "Running ", "command"},
    CallPhrase{"list_directory", "Listing ", "dir_path"},
    CallPhrase{"list_directory", "Listing ", "path"},
    CallPhrase{"glob", "Looking for ", "pattern"},
    CallPhrase{"grep_search", "Searching for ", "pattern"},
    CallPhrase{"search_file_content", "Searching for ", "pattern"},
    CallPhrase{"web_fetch", "Fetching: ", "prompt"},
    CallPhrase{"web_fetch", "Fetching ", "url"},
    CallPhrase{"google_web_search", "Searching the web for ", "query"},
    CallPhrase{"invoke_agent", "Delegating: ", "prompt"},
    CallPhrase{"activate_skill", "Using skill ", "name"},
    CallPhrase{"save_memory", "Remembering: ", "fact"},
    CallPhrase{"update_topic", "Now: ", "title"},
    CallPhrase{"write_todos", "Updating its to-do list"},
};

}  // namespace

void GeminiStream::record(std::string_view line, std::int64_t now_ms, Actions& out) {
  ++hints_.records;
  // The batch format is one document on many lines; a record of the stream is never a brace alone.
  if (!batch_.empty() || (line == "{" && !begun_)) {
    if (batch_.size() + line.size() < kMaxBatchBytes) batch_.append(line).push_back('\n');
    return;
  }
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    ++hints_.passed_over;
    return;
  }
  std::size_t before = out.shown();
  if (!events_.read(line, now_ms, gemini_looks_into, out)) return;
  if (auto time = parse_timestamp(events_.json().string("timestamp"))) events_.set_time(*time);
  events_.set_session(events_.json().string("session_id"));
  hints_.session_id = events_.session();
  dispatch(out);
  if (out.shown() == before && text_.empty()) ++hints_.passed_over;
}

void GeminiStream::dispatch(Actions& out) {
  std::string_view type = events_.json().string("type");
  if (type == "message" && events_.json().string("role") == "assistant") return message(out);
  end_text(out);
  if (type == "init") return init(out);
  if (type == "message") return message(out);
  if (type == "tool_use") return tool_use(out);
  if (type == "tool_result") return tool_result(out);
  if (type == "error") return agent_error(out);
  if (type == "result") return result(out);
  events_.unknown(out, type);
}

void GeminiStream::init(Actions& out) {
  begun_ = true;
  hints_.turn = Hints::Turn::running;
  std::string_view model = events_.json().string("model");
  std::string data = object_text([&](JsonObject& object) { object.text("model", model); });
  EventParts parts = events_.step(EventType::session_start);
  std::string summary = "Session started with " + std::string(model);
  parts.summary = summary;
  parts.data = data;
  events_.emit(out, parts);
}

void GeminiStream::message(Actions& out) {
  std::string_view text = events_.json().string("content");
  if (events_.json().string("role") == "assistant") return piece(text, out);
  std::string_view kept = event_text(text);
  std::string data = object_text([&](JsonObject& object) {
    object.text("role", events_.json().string("role").substr(0, kMaxAgentIdBytes));
    object.text("content", kept);
  });
  EventParts parts = events_.step(EventType::message);
  std::string summary = one_line(kept, kTextSummaryCharacters);
  if (summary.empty()) summary = "(an empty message)";
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, kept, text);
  events_.emit(out, parts, std::move(detail));
}

// A piece of what the model says. The finished text is one event; its pieces are live text.
void GeminiStream::piece(std::string_view text, Actions& out) {
  if (text.empty()) return;
  if (text_.size() + text.size() > kGeminiTextBytes) end_text(out);
  if (text_.empty()) {
    text_since_ms_ = events_.at_ms();
    ++texts_;
  }
  text_.append(text);
  if (!deltas_ || text.size() > kMaxDeltaBytes / 8) return;  // escaping may make six bytes of one
  out.delta({events_.session() + ":" + std::to_string(texts_), std::string(text)});
}

void GeminiStream::end_text(Actions& out) {
  if (text_.empty()) return;
  last_text_ = std::exchange(text_, {});
  RecordEvents said;  // of many records, so it has none beside it
  said.without_record(text_since_ms_);
  said.set_session(events_.session());
  std::string id = events_.session().empty() ? "" : events_.session() + "/text/" + std::to_string(texts_);
  said.said(out, {"text", last_text_, id});
}

void GeminiStream::tool_use(Actions& out) {
  const JsonSlices& json = events_.json();
  std::string_view tool = json.string("tool_name");
  std::string_view input = json.find("parameters").slice;
  events_.tool_call(out, calls_, json.string("tool_id"), tool, input, call_summary(kGeminiPhrases, tool, input, ""));
}

// `success` means that the tool was run: a command that failed is one too, and nothing says its exit code. What other
// tools return is mostly not printed.
void GeminiStream::tool_result(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& error = json.find("error");
  bool good = json.string("status") == "success";
  std::string_view text = json.string("output");
  if (std::string_view message = json.string(error, "message"); !good && !message.empty()) text = message;
  const OpenCall* call = calls_.find(json.string("tool_id"));
  bool command = call != nullptr && call->tool == "run_shell_command";
  std::string data;
  if (std::string_view type = json.string(error, "type"); !type.empty()) {
    data = object_text([&](JsonObject& object) { object.text("errorType", type.substr(0, kMaxAgentIdBytes)); });
  } else if (good && command) {
    data = R"({"exitCodeKnown":false})";
  }
  bool never_made = json.string(error, "type") == "tool_not_registered";
  Outcome outcome = good ? Outcome::success : never_made ? Outcome::denied : Outcome::failed;
  std::string_view shown = good && text.empty() && !command ? "Done; what it returned is not printed" : text;
  events_.tool_result(out, calls_, {json.string("tool_id"), outcome, text, shown, data});
}

// Something went wrong and it may go on.
void GeminiStream::agent_error(Actions& out) {
  std::string_view text = events_.json().string("message");
  if (events_.json().string("severity") == "warning") return events_.note(out, text.empty() ? "a warning" : text);
  warning_ = event_text(text);
  events_.error(out, "agent_error", text.empty() ? "an error of the agent" : text, false);
}

void GeminiStream::stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) {
  errors_.line(line, now_ms, events_.session(), out);
}

void GeminiStream::tick(std::int64_t now_ms, Actions& out) {
  errors_.tick(now_ms, events_.session(), out);
}

void GeminiStream::command(const Command& command, std::int64_t now_ms, Actions& out) {
  still_.command(command, now_ms, events_.session(), out);
}

Hints GeminiStream::hints() const {
  Hints hints = hints_;
  hints.tick_at_ms = errors_.due_at_ms();
  return hints;
}

}  // namespace shepherd
