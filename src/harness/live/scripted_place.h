// A throw-away place where a known agent works with the scripted model: its home with the settings that point it there,
// a directory to work in, and an environment of its own.
//
// Owns the model and the directories; the destructor removes them, but the logs when keep_logs() was called. Threads:
// any.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/model/scripted_model.h"

namespace shepherd::harness {

class ScriptedPlace {
 public:
  // `path` is the PATH of the environment. invalid_argument/no_recipe if it is not known how that agent is pointed
  // elsewhere; unavailable if the machine has no directory or port for it.
  static Result<std::unique_ptr<ScriptedPlace>> make(const std::string& agent, const std::string& path);
  ~ScriptedPlace();
  ScriptedPlace(const ScriptedPlace&) = delete;
  ScriptedPlace& operator=(const ScriptedPlace&) = delete;

  const ScriptedModel& model() const { return *model_; }
  const std::vector<std::string>& environment() const { return environment_; }  // NAME=value; the agent's whole one
  std::string work() const { return root_ + "/work"; }
  std::string logs() const { return root_ + "/logs"; }
  void keep_logs() { keeps_logs_ = true; }

 private:
  ScriptedPlace(std::unique_ptr<ScriptedModel> model, std::string root)
      : model_(std::move(model)), root_(std::move(root)) {}

  std::unique_ptr<ScriptedModel> model_;
  const std::string root_;
  std::vector<std::string> environment_;
  bool keeps_logs_ = false;
};

}  // namespace shepherd::harness
