// The agents of `shepherd demo`: what each is asked, and the script it follows.
// Threads: value.
#pragma once

#include <string>
#include <vector>

namespace shepherd {

struct DemoAgent {
  std::string title, prompt;
  std::string model;
  std::string mode;    // interactive: it asks before it acts
  std::string script;  // JSON steps, as demo/script.h has them
};

std::vector<DemoAgent> demo_agents();

// What the agent without a driver reports: events of a review, in order, JSON each. They have findings in them.
std::vector<std::string> demo_review();

}  // namespace shepherd
