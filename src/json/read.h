// Validating JSON that comes from outside, with simdjson: UTF-8, syntax, numbers, depth.
// Threads: caller; each thread has its own parser.
#pragma once

#include <simdjson.h>

#include <memory>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// A parser for one piece of work at a time on this thread. Small documents share the thread's parser; a large one gets
// its own, so that one huge body does not stay in memory forever.
class JsonParser {
 public:
  explicit JsonParser(std::size_t bytes);

  // The document's root, valid until the next parse on this thread. invalid_argument/bad_json or /json_too_deep.
  Result<simdjson::dom::element> parse(std::string_view json);

 private:
  std::unique_ptr<simdjson::dom::parser> own_;
  simdjson::dom::parser* parser_;
};

}  // namespace shepherd
