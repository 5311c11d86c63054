#include "driver/text/plain_text.h"

#include "driver/event_json.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {
Result<LaunchPlan> PlainText::launch(const Launch& launch) {
  if (launch.command.empty() && launch.program.empty()) {
    return fail(ErrorCode::invalid_argument, "no_command", "say which command to run");
  }
  LaunchPlan plan;
  plan.way = ProgramLaunch{launch.command.empty() ? std::vector{launch.program} : launch.command, {}};
  plan.input = launch.prompt;
  if (!launch.context.empty()) plan.input.append("\n\n").append(launch.context);
  if (!plan.input.empty()) plan.input.push_back('\n');
  hints_.turn = Hints::Turn::running;
  return plan;
}

void PlainText::record(std::string_view line, std::int64_t now_ms, Actions& out) {
  ++hints_.records;
  hints_.turn = Hints::Turn::running;
  if (!line.empty()) last_line_ = line.substr(0, kMaxEventTextBytes);
  output(out, lines_.add(line, now_ms));
}

void PlainText::stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) {
  if (!line.empty()) last_error_ = line.substr(0, kMaxEventTextBytes);
  add_log(out, errors_.add(line, now_ms), "stderr", "");
}

void PlainText::tick(std::int64_t now_ms, Actions& out) {
  output(out, lines_.due(now_ms));
  add_log(out, errors_.due(now_ms), "stderr", "");
}

void PlainText::output(Actions& out, const std::optional<JoinedText>& lines) {
  if (!lines || lines->text.find_first_not_of(" \t\n") == std::string::npos) return;
  std::string_view kept = event_text(lines->text);
  std::string data = object_text([&](JsonObject& object) { object.text("text", kept); });
  EventParts parts;
  parts.type = EventType::output;
  parts.timestamp_ms = lines->at_ms;
  std::string summary = one_line(kept, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, kept, lines->text);
  add_event(out, parts, detail.take());
}

void PlainText::command(const Command& command, std::int64_t now_ms, Actions& out) {
  still_.command(command, now_ms, "", out);
}

Verdict PlainText::finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) {
  output(out, lines_.flush());
  add_log(out, errors_.flush(), "stderr", "");
  hints_.turn = Hints::Turn::idle;
  bool good = exit.code == 0 && exit.signal == 0;
  std::string how = exit.signal == 0 ? "Exit code " + std::to_string(exit.code) : "The command " + how_it_ended(exit);
  std::string data = object_text([&](JsonObject& object) {
    if (exit.signal != 0) {
      object.number("signal", std::int64_t{exit.signal});
    } else {
      object.number("exitCode", std::int64_t{exit.code});
    }
  });
  EventParts parts;
  parts.type = EventType::result;
  parts.timestamp_ms = now_ms;
  parts.summary = how;
  parts.data = data;
  add_event(out, parts);
  Verdict verdict;
  verdict.state = good ? State::completed : still_.stopping() ? State::cancelled : State::failed;
  verdict.message = good ? last_line_ : last_error_.empty() ? how : last_error_;
  return verdict;
}

Capabilities PlainText::capabilities() const {
  Capabilities can;
  can.commands = StandStill::commands();
  return can;
}

AgentTraits PlainText::traits() const {
  AgentTraits traits;
  traits.max_turns = Means::none;
  return traits;
}

Hints PlainText::hints() const {
  Hints hints = hints_;
  hints.tick_at_ms = lines_.due_at_ms();
  auto errors = errors_.due_at_ms();
  if (errors && (!hints.tick_at_ms || *errors < *hints.tick_at_ms)) hints.tick_at_ms = errors;
  return hints;
}

}  // namespace shepherd
