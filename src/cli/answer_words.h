// Matches an operator's typed answers (`1=Blue`, `Colour=Blue`, `Blue`) to the questions that an agent asked.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct AskedQuestion {
  std::string text;    // key of the answer that the agent expects
  std::string header;  // short name, may be empty
  std::vector<std::string> options;
};

// Reads the questions from the `data` of an approval event.
std::vector<AskedQuestion> asked_questions(std::string_view approval_data);

// Builds the `answers` object of a command. A question is named by its number, its text or its header, ignoring case;
// if there is only one, a word without `=` answers it. An answer that is an option's number means that option.
// invalid_argument lists the questions if one is unknown or unanswered.
Result<std::string> answers_json(const std::vector<AskedQuestion>& questions, const std::vector<std::string>& words);

}  // namespace shepherd
