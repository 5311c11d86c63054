// What must hold of every line that people read, whatever an agent sent: the golden tests judge by it.
// Threads: value.
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "driver/limits.h"
#include "model/condense.h"

namespace shepherd {

// What is wrong with a summary, in words; empty: nothing. `ids` are those of its event: people do not read by them.
inline std::vector<std::string> faults_of(std::string summary, const std::vector<std::string>& ids) {
  std::vector<std::string> faults;
  if (characters_in(summary) > kTextSummaryCharacters) faults.emplace_back("longer than a line");
  // The one id that a person may have typed, and is told of.
  static const std::regex kAsked("session ID: [0-9a-f-]+");
  summary = std::regex_replace(summary, kAsked, "session");
  static const std::regex kMarkup("</?[A-Za-z][A-Za-z0-9_-]*>");
  if (std::regex_search(summary, kMarkup)) faults.emplace_back("has the markup of a program");
  // With a digit and a letter: 12345678 is a number, and deadbeef may be a word.
  static const std::regex kId(R"(\b(?=[0-9a-f-]*[0-9])(?=[0-9a-f-]*[a-f])[0-9a-f]{8,}(-[0-9a-f]{4,})*\b)");
  if (std::regex_search(summary, kId)) faults.emplace_back("has a bare id");
  for (const auto& id : ids) {
    if (!id.empty() && summary.find(id) != std::string::npos) faults.push_back("has the id " + id);
  }
  if (summary.find("$0.0000") != std::string::npos) faults.emplace_back("tells a cost that there is not");
  return faults;
}

}  // namespace shepherd
