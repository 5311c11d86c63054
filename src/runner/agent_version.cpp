#include "runner/agent_version.h"

#include <sys/stat.h>

#include <algorithm>

#include "process/limits.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

// Finds the program as the warden will find it.
std::string found_program(const AgentSpec& spec) {
  const std::string& name = spec.command.front();
  if (name.starts_with('/')) return name;
  if (name.find('/') != std::string::npos) return spec.directory + "/" + name;
  std::string_view path;
  for (std::string_view variable : spec.environment) {
    if (variable.starts_with("PATH=")) path = variable.substr(5);
  }
  while (!path.empty()) {
    std::size_t end = std::min(path.find(':'), path.size());
    std::string candidate = std::string(path.substr(0, end)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return {};
}

// Changes whenever the file does. Follows links, because installers switch versions by them.
std::string stamp_of(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return std::to_string(facts.st_dev) + "/" + std::to_string(facts.st_ino) + "/" + std::to_string(facts.st_size) + "/" +
         std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec);
}

}  // namespace

std::string version_line(std::string_view output) {
  std::string_view line = output.substr(0, output.find('\n')).substr(0, kMaxVersionBytes);
  bool numbered = std::ranges::any_of(line, [](char c) { return c >= '0' && c <= '9'; });
  bool printable = std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; });
  return numbered && printable ? std::string(line) : std::string();
}

std::string AgentVersions::ask(const AgentSpec& question, const Clock& clock, ProgramStop* stop) {
  std::string path = found_program(question);
  std::string stamp = path.empty() ? "" : stamp_of(path);
  if (stamp.empty()) return {};
  {
    MutexLock lock(mutex_);
    // Many agents start at once; only one of them runs the program.
    while (known_[path].asking) {
      if (stop != nullptr && stop->stopped()) return {};
      changed_.wait_for(mutex_, kProgramStopWait);
    }
    Known& known = known_[path];
    if (known.stamp == stamp) return known.version;
    known.asking = true;
  }
  Result<ProgramOutput> said = run_program(question, kVersionTimeout, clock, stop);
  bool stopped = !said && said.error().reason == "program_stopped";
  MutexLock lock(mutex_);
  Known& known = known_[path];
  known.asking = false;
  if (!stopped) known = {stamp, false, said && said->good() ? version_line(said->out) : ""};
  changed_.notify_all();
  return stopped ? "" : known.version;
}

}  // namespace shepherd
