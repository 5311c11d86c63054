#include "cli/answer_words.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

bool same_words(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// 1, 2, …; 0 if it is not a number.
std::size_t number_of(std::string_view text) {
  std::size_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

const AskedQuestion* named(const std::vector<AskedQuestion>& questions, std::string_view name) {
  for (const AskedQuestion& question : questions) {
    if (same_words(question.text, name) || (!question.header.empty() && same_words(question.header, name))) {
      return &question;
    }
  }
  std::size_t number = number_of(name);
  return number >= 1 && number <= questions.size() ? &questions[number - 1] : nullptr;
}

std::string option_meant(const AskedQuestion& question, std::string_view answer) {
  for (const std::string& option : question.options) {
    if (same_words(option, answer)) return option;
  }
  std::size_t number = number_of(answer);
  return number >= 1 && number <= question.options.size() ? question.options[number - 1] : std::string(answer);
}

std::string asked(const std::vector<AskedQuestion>& questions) {
  std::string list;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    list += fmt::format("{}{}. {}", list.empty() ? "" : " ", i + 1, questions[i].text);
    if (!questions[i].options.empty()) list += fmt::format(" [{}]", fmt::join(questions[i].options, ", "));
  }
  return list;
}

struct Split {
  std::string_view name, answer;
};

// Splits at the first `=` that follows the name of a question, because a question itself may contain `=`.
Split split(const std::vector<AskedQuestion>& questions, std::string_view word) {
  for (std::size_t at = word.find('='); at != std::string_view::npos; at = word.find('=', at + 1)) {
    if (named(questions, word.substr(0, at)) != nullptr) return {word.substr(0, at), word.substr(at + 1)};
  }
  std::size_t first = word.find('=');
  if (first == std::string_view::npos || questions.size() == 1) return {{}, word};
  return {word.substr(0, first), word.substr(first + 1)};
}

}  // namespace

std::vector<AskedQuestion> asked_questions(std::string_view approval_data) {
  std::vector<AskedQuestion> questions;
  auto elements = array_elements(find_member(find_member(approval_data, "input"), "questions"));
  if (!elements) return questions;
  for (std::string_view each : *elements) {
    AskedQuestion question{text_member(each, "question"), text_member(each, "header"), {}};
    if (auto options = array_elements(find_member(each, "options"))) {
      for (std::string_view option : *options) question.options.push_back(text_member(option, "label"));
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

Result<std::string> answers_json(const std::vector<AskedQuestion>& questions, const std::vector<std::string>& words) {
  if (questions.empty()) {
    return fail(ErrorCode::invalid_argument, "no_question",
                "the agent asks for approval, not for an answer: use \"shepherd approve\" or \"shepherd deny\"");
  }
  auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::invalid_argument, "bad_answer",
                fmt::format("{}; the agent asks: {}", why, asked(questions)));
  };
  std::map<std::string, std::string> answers;
  for (const std::string& word : words) {
    auto [name, answer] = split(questions, word);
    const AskedQuestion* question = name.empty() && questions.size() == 1 ? &questions.front() : named(questions, name);
    if (question == nullptr && name.empty()) return refuse(fmt::format("\"{}\" answers which question?", word));
    if (question == nullptr) return refuse(fmt::format("the agent did not ask \"{}\"", name));
    answers[question->text] = option_meant(*question, answer);
  }
  for (const AskedQuestion& question : questions) {
    if (!answers.contains(question.text)) return refuse(fmt::format("no answer to \"{}\"", question.text));
  }
  std::string out = "{";
  for (const auto& [question, answer] : answers) {
    if (out.size() > 1) out.push_back(',');
    append_json_string(out, question);
    out.push_back(':');
    append_json_string(out, answer);
  }
  return out + "}";
}

}  // namespace shepherd
