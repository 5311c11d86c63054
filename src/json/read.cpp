#include "json/read.h"

#include <new>
#include <string>

#include "base/limits.h"
#include "json/limits.h"

namespace shepherd {
namespace {

// A batch wraps its events in at most an object and an array; the exact bound is checked per event.
constexpr std::size_t kParserDepth = kMaxJsonDepth + 4;

std::unique_ptr<simdjson::dom::parser> make_parser(std::size_t bytes) {
  auto parser = std::make_unique<simdjson::dom::parser>();
  if (parser->allocate(bytes, kParserDepth) != simdjson::SUCCESS) throw std::bad_alloc();
  return parser;
}

}  // namespace

JsonParser::JsonParser(std::size_t bytes) {
  thread_local std::unique_ptr<simdjson::dom::parser> shared = make_parser(16 * kKiB);
  if (bytes > kParserKeepBytes) own_ = make_parser(bytes);
  parser_ = own_ ? own_.get() : shared.get();
}

Result<simdjson::dom::element> JsonParser::parse(std::string_view json) {
  if (json.data() == nullptr) json = "";  // simdjson copies from it, also nothing
  simdjson::dom::element root;
  auto error = parser_->parse(json.data(), json.size(), true).get(root);
  if (error == simdjson::SUCCESS) return root;
  if (error == simdjson::DEPTH_ERROR) {
    return fail(ErrorCode::invalid_argument, "json_too_deep",
                "JSON may be nested at most " + std::to_string(kMaxJsonDepth) + " levels deep");
  }
  return fail(ErrorCode::invalid_argument, "bad_json",
              std::string("not valid JSON: ") + simdjson::error_message(error));
}

}  // namespace shepherd
