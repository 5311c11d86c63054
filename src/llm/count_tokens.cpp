// Counting the tokens of a prompt, in the ways that backends offer.
#include <fmt/format.h>

#include "json/scan.h"
#include "json/write.h"
#include "llm/backend_fault.h"
#include "llm/chunk_json.h"
#include "llm/inquiry_steps.h"

namespace shepherd {
namespace {

class CountTokens final : public InquirySteps<Counting> {
 public:
  CountTokens(CountWay way, std::string body, std::string backend) : backend_(std::move(backend)) {
    switch (way) {
      case CountWay::none:
        error_ = Error{ErrorCode::not_found,
                       "no_count",
                       fmt::format("model \"{}\" does not count tokens before it answers", backend_),
                       {}};
        break;
      case CountWay::input_tokens:
        ask({false, "/chat/completions/input_tokens", std::move(body)}, member("input_tokens"));
        break;
      case CountWay::tokenize:
        ask({true, "/tokenize", std::move(body)}, member("count"));
        break;
      case CountWay::anthropic:
        ask({false, "/messages/count_tokens", std::move(body)}, member("input_tokens"));
        break;
      case CountWay::template_and_tokenize:
        ask({true, "/apply-template", std::move(body)}, [this](int status, std::string_view answer) {
          if (status != 200) return refuse(status, answer);
          std::string prompt = text_member(answer, "prompt");
          ask({true, "/tokenize", object_text([&](JsonObject& object) {
                 object.text("content", prompt);
                 object.flag("add_special", true);
                 object.flag("parse_special", true);
               })},
              [this](int second, std::string_view tokens) {
                auto list = second == 200 ? array_elements(find_member(tokens, "tokens")) : std::nullopt;
                if (!list) return refuse(second, tokens);
                tokens_ = static_cast<std::int64_t>(list->size());
              });
        });
        break;
    }
  }

  Result<std::int64_t> tokens() const override {
    if (error_) return fail(*error_);
    return tokens_;
  }

 private:
  Answered member(std::string_view key) {
    return [this, key](int status, std::string_view body) {
      ChunkJson json;
      auto root = status == 200 ? json.parse(body) : std::nullopt;
      auto count = root ? count_in(*root, key) : std::nullopt;
      if (!count) return refuse(status, body);
      tokens_ = *count;
    };
  }
  void refuse(int status, std::string_view body) {
    error_ = status == 200 ? Error{ErrorCode::not_found,
                                   "no_count",
                                   fmt::format("model \"{}\" answers a request to count with something else", backend_),
                                   {}}
                           : error_of(read_fault(status, body), backend_);
  }

  const std::string backend_;
  std::int64_t tokens_ = 0;
  std::optional<Error> error_;
};

}  // namespace

std::unique_ptr<Counting> count_tokens(CountWay way, std::string body, std::string backend) {
  return std::make_unique<CountTokens>(way, std::move(body), std::move(backend));
}

}  // namespace shepherd
