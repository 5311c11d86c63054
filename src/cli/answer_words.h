// An operator's answers as typed (`1=Blue`, `Colour=Blue`, `Blue`) to the questions that an agent asked.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct AskedQuestion {
  std::string text;    // what the agent expects as the name of the answer
  std::string header;  // a short name, may be empty
  std::vector<std::string> options;
};

// From the `data` of an approval event.
std::vector<AskedQuestion> asked_questions(std::string_view approval_data);

// The `answers` object of a command. A question is named by its number, its text or its header, without regard to case;
// where there is only one, a word without `=` answers it. An answer that is the number of an option means that option.
// invalid_argument says what was asked when a question is unknown or left out.
Result<std::string> answers_json(const std::vector<AskedQuestion>& questions, const std::vector<std::string>& words);

}  // namespace shepherd
