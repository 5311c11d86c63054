// The agents of `shepherd demo`: their prompts and the scripts they follow.
// Threads: value.
#pragma once

#include <string>
#include <vector>

namespace shepherd {

struct DemoAgent {
  std::string title, prompt;
  std::string model;
  std::string mode;    // interactive: asks before it acts
  std::string script;  // JSON steps in the format of demo/script.h
};

std::vector<DemoAgent> demo_agents();

// The events that the agent without a driver posts: a review with findings, in order, each as JSON.
std::vector<std::string> demo_review();

}  // namespace shepherd
