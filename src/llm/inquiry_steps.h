// An inquiry as a list of steps, to which an answer can add others.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "llm/inquiry.h"

namespace shepherd {

// Base is Probe or Counting. Threads: caller.
template <class Base>
class InquirySteps : public Base {
 public:
  std::optional<Question> next() final {
    if (steps_.empty()) return std::nullopt;
    return steps_.front().question;
  }
  void take(int status, std::string_view body) final {
    if (steps_.empty()) return;
    auto answered = std::move(steps_.front().answered);
    steps_.pop_front();
    answered(status, body);
  }

 protected:
  using Answered = std::move_only_function<void(int status, std::string_view body)>;
  void ask(Question question, Answered answered) { steps_.push_back({std::move(question), std::move(answered)}); }

 private:
  struct Step {
    Question question;
    Answered answered;
  };
  std::deque<Step> steps_;
};

}  // namespace shepherd
