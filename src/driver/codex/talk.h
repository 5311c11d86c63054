// What was said to Codex's app server and is not settled yet, and the exact lines that say it.
// Threads: value.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "driver/pending.h"
#include "model/command.h"

namespace shepherd {

// A request of ours that the app server has not answered. Its ids and ours overlap: a line with a `method` is a request
// of the server, one without is an answer to ours.
struct CodexRequest {
  enum class Kind : std::uint8_t { initialize, open_thread, start_turn, steer, interrupt };
  Kind kind = Kind::initialize;
  std::string command_id = {};  // of an interrupt the command, of words their id
  bool stops = false;           // an interrupt after which the agent is to end
};

// A word of ours to the model: the prompt, a steered or a queued message. It is taken up when the server shows it as an
// item of the conversation, under the id that we gave it.
struct CodexWord {
  std::string id;
  std::string command_id;  // empty: the prompt, or words that came with an approval
  std::string text;
  bool said = false;
  bool begins = false;  // the server has begun a turn with it
  bool taken_up = false;
};

// How the answer to a server's request is written.
struct CodexAsk {
  enum class Form : std::uint8_t { decision, permissions, input, elicitation };
  Form form = Form::decision;
  std::string id;           // the request's id as JSON: a number or a string
  std::string permissions;  // what was asked for, as JSON
  bool tool = false;        // an elicitation that asks whether a tool may be used
  std::string server;       // of an elicitation
};

struct CodexTalk {
  PendingAsks approvals;                                    // what it asked an operator
  std::map<std::string, CodexAsk, std::less<>> asks;        // the same, by approval id
  std::map<std::uint64_t, CodexRequest> requests;           // by our request id
  std::deque<CodexWord> words;                              // those whose turn is not over, oldest first
  std::deque<Command> held;                                 // for the next turn
  std::map<std::string, std::string, std::less<>> decided;  // by the server's request id: the command that answered it
  std::uint64_t next_request = 1;

  CodexWord* word(std::string_view id);
  void forget(std::string_view word_id);
};

// Lines for the app server, each with its newline.
std::string request_line(std::uint64_t id, std::string_view method, std::string_view params);
std::string notification_line(std::string_view method);
std::string answer_line(std::string_view id, std::string_view result);
std::string error_answer_line(std::string_view id, std::string_view message);

// The `input` of a turn: one text.
std::string text_input(std::string_view text);

}  // namespace shepherd
