// What backends answer when they do not answer: errors of every shape, and what they mean.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "llm/chunk_json.h"
#include "llm/request_text.h"

namespace shepherd {

struct BackendFault {
  int status = 0;                                             // HTTP's, or the one that the error itself means
  std::string type, code, param, message;                     // as far as the backend says them
  std::optional<std::int64_t> prompt_tokens, context_tokens;  // members of their own
  std::optional<std::int64_t> retry_after_ms;                 // from the response's header
};

// The fault in a chunk of a stream: {"error":{…}}, {"error":"text"}, {"object":"error",…}, {"type":"error",…}; nullopt
// if it is none. `named_error`: the event's name says that it is one, whatever its shape.
std::optional<BackendFault> fault_in(ChunkJson& json, simdjson::dom::element chunk, bool named_error = false);
// The fault of a response with an error status. The body may be anything.
BackendFault read_fault(int status, std::string_view body);

// The request does not fit into the model's context.
struct ContextOverflow {
  std::optional<std::int64_t> prompt_tokens, context_tokens;
};
std::optional<ContextOverflow> overflow_of(const BackendFault& fault);

// The error as ModelObserver::on_end() lists them. `backend` is its configured name.
Error error_of(const BackendFault& fault, const std::string& backend);
// The same attempt may succeed soon: too many requests, overloaded, still loading. Not a quota that is used up.
bool may_pass(const BackendFault& fault);
// A server that takes a member of OpenAI's requests under another name, or not at all. False if it is not that, or was
// known.
bool learn_habit(const BackendFault& fault, RequestHabits& habits);
// llama.cpp ends a call if its parser does not understand the model's own words, which may differ next time.
bool is_parser_fault(const BackendFault& fault);

}  // namespace shepherd
