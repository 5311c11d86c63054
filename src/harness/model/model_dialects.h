// The dialects of the scripted model: what a request says, and the bytes of an answer.
//
//   chat         OpenAI's chat completions      POST …/chat/completions
//   responses    OpenAI's responses             POST …/responses
//   messages     Anthropic's messages           POST …/messages
//   generate     Google's generateContent       POST …:generateContent, …:streamGenerateContent
//
// Threads: any.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "harness/model/model_reply.h"

namespace shepherd::harness {

struct ModelAnswer {
  std::string content_type;  // text/event-stream or application/json
  std::string body;
};

inline constexpr std::string_view kModelName = "scripted";

// Which number an answer has, for the ids in it; different for each answer.
using AnswerNumber = std::size_t;

ModelRequest chat_request(const boost::json::object& body);
ModelAnswer chat_answer(const ModelReply& reply, bool streams, AnswerNumber number);

ModelRequest responses_request(const boost::json::object& body);
ModelAnswer responses_answer(const ModelReply& reply, bool streams, AnswerNumber number);

ModelRequest messages_request(const boost::json::object& body);
ModelAnswer messages_answer(const ModelReply& reply, bool streams, AnswerNumber number);

ModelRequest generate_request(const boost::json::object& body);
ModelAnswer generate_answer(const ModelReply& reply, bool streams, AnswerNumber number);

// Parts of the dialects. Empty or null for what is absent or has another type.
std::string_view text_member(const boost::json::object& of, std::string_view name);
const boost::json::object* object_member(const boost::json::object& of, std::string_view name);
const boost::json::array* array_member(const boost::json::object& of, std::string_view name);
// The words of a content that is a string, or a list of parts with a `text`.
std::string words_of(const boost::json::value* content);
// Takes words of the user. Agents put reminders of their own around the prompt, also in messages of the same role:
// words without a command replace a prompt only after a tool has answered.
void note_words(ModelRequest& request, const std::string& words);
// One event of an event stream; without a name, only its data.
std::string stream_event(std::string_view name, const boost::json::value& data);

}  // namespace shepherd::harness
