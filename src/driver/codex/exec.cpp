#include "driver/codex/codex.h"

namespace shepherd {
namespace {

constexpr std::string_view kReconnecting = "Reconnecting... ";

}  // namespace

// `codex exec --json`: one turn, without times, and nothing can be said to it.
void Codex::exec_record(Actions& out) {
  std::string_view type = record_.string("type");
  lives_ = true;
  if (type == "thread.started") {
    begin_session(record_.root(), out);
  } else if (type == "turn.started") {
    if (!in_turn()) turn_started(record_.root(), out);
  } else if (type == "item.started" || type == "item.updated") {
    item(record_.find("item"), false, out);
  } else if (type == "item.completed") {
    item(record_.find("item"), true, out);
  } else if (type == "turn.completed") {
    usage_.total(record_, record_.find("usage"));
    end_turn("completed", std::nullopt, out);
  } else if (type == "turn.failed") {
    std::string_view why = record_.string(record_.find("error"), "message");
    fatal(why, "agent_failed", std::nullopt, out);
    end_turn("failed", std::nullopt, out);
  } else if (type == "error") {
    std::string_view message = record_.string("message");
    if (!message.starts_with(kReconnecting)) return fatal(message, "agent_failed", std::nullopt, out);
    // "Reconnecting... 1/2 (why)"
    std::size_t open = message.find(" (");
    bool has_cause = open != std::string_view::npos && message.ends_with(')');
    std::string_view cause = has_cause ? message.substr(open + 2, message.size() - open - 3) : std::string_view();
    retry(message.substr(0, open), cause, std::nullopt, out);
  } else {
    unknown(type, out);
  }
}

}  // namespace shepherd
