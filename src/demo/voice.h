// The scripted agent's output: the lines of Claude Code 2.1.325, with their members and in their order.
//
// Owns: standard output, the ids, the totals that `result` lines report. A closed or broken standard output is not an
// error; the agent continues without a reader.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "demo/options.h"
#include "demo/script.h"

namespace scripted {

std::string new_uuid();
std::string new_id(std::string_view prefix);

struct Ending {
  std::string subtype = "success";
  std::string reason = "completed";
  std::string error;  // for error_* subtypes; with a failed `success`, the API's error
  bool failed = false;
  std::string origin;  // what started the turn if it was not a message
};

class Voice {
 public:
  Voice(const Options& options, std::string version);

  // Turns.
  void init();
  void result(const Ending& ending);
  void session_state(std::string_view state);
  void lifecycle(std::string_view message_uuid, std::string_view state);
  void replay(const json::value& content, std::string_view message_uuid);

  // The model's output.
  void text(std::string_view words);
  void thinking(std::string_view words);
  std::string tool_use(std::string_view tool, const json::object& input);
  void end_message(std::string_view stop_reason);

  // Events around the model.
  void tool_result(std::string_view call, json::value content, bool failed, json::value use_result, json::value meta);
  void user_text(std::string_view words);
  void system(std::string_view subtype, json::object members);

  // Control protocol.
  std::string ask(std::string_view tool, const json::object& input, std::string_view call);
  void withdraw(std::string_view request_id);
  void respond(std::string_view request_id, json::value response);
  void respond_error(std::string_view request_id, std::string_view error, std::string_view code);

  void line(json::object object);
  void raw(std::string_view bytes);
  // Prints the output of the formats that print nothing before the end.
  void finish();

  // The call of the sub-agent that currently speaks, or empty.
  std::string parent;
  json::array denials;

  const std::string& session() const { return session_; }
  double cost_usd() const { return cost_usd_; }
  std::int64_t model_calls() const { return calls_; }

 private:
  void block(int rank, json::object content, std::string_view stop_reason);
  void stream(json::object event);
  void stream_block(const json::object& content);
  json::object usage(std::int64_t calls) const;
  json::object model_usage(std::int64_t calls, double cost) const;

  const Options& options_;
  std::string version_;
  std::string session_;
  std::string message_id_, last_text_;
  json::array lines_;  // kept for the formats that print at the end
  json::object last_result_;
  int rank_ = 0;  // rank of the message's last block: reasoning, text, call
  std::int64_t index_ = 0, results_ = 0, calls_ = 0, calls_before_ = 0, began_ns_ = 0;
  double cost_usd_ = 0, cost_before_ = 0;
};

}  // namespace scripted
