// Starts misbehaving agents with a mark in their environment, and finds every process that still carries it.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "process/agent_process.h"

namespace shepherd {

using namespace std::chrono_literals;

inline std::string fresh_mark() {
  SystemRandom random;
  return "mark-" + std::to_string(random.next());
}

// Living processes whose environment contains the mark.
inline std::vector<pid_t> carriers_of(const std::string& mark) {
  std::vector<pid_t> found;
  DIR* proc = ::opendir("/proc");
  while (const dirent* entry = ::readdir(proc)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    auto pid = static_cast<pid_t>(std::stol(entry->d_name));
    std::ifstream file("/proc/" + std::string(entry->d_name) + "/environ", std::ios::binary);
    std::string environment((std::istreambuf_iterator<char>(file)), {});
    if (environment.find(mark) == std::string::npos) continue;
    auto stat = process_stat(pid);
    if (stat && stat->state != 'Z' && stat->state != 'X') found.push_back(pid);
  }
  ::closedir(proc);
  return found;
}

// Waits for a fact; returns false if it did not become true in time.
inline bool eventually(const std::function<bool()>& fact, std::chrono::milliseconds within = 20s) {
  auto deadline = std::chrono::steady_clock::now() + within;
  while (!fact()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class RecordingObserver final : public AgentObserver {
 public:
  void on_output(AgentStream stream, std::string_view bytes) override {
    MutexLock lock(mutex_);
    (stream == AgentStream::out ? out_ : err_) += bytes;
  }
  void on_output_closed(AgentStream) override {
    MutexLock lock(mutex_);
    ++closed_;
  }
  void on_exit(const AgentExit& exit) override {
    MutexLock lock(mutex_);
    exits_.push_back(exit);
  }
  void on_end(const AgentEnd&) override {
    MutexLock lock(mutex_);
    ++ends_;
  }

  std::string out() const {
    MutexLock lock(mutex_);
    return out_;
  }
  int closed() const {
    MutexLock lock(mutex_);
    return closed_;
  }
  std::vector<AgentExit> exits() const {
    MutexLock lock(mutex_);
    return exits_;
  }
  int ends() const {
    MutexLock lock(mutex_);
    return ends_;
  }

 private:
  mutable Mutex mutex_;
  std::string out_ GUARDED_BY(mutex_), err_ GUARDED_BY(mutex_);
  int closed_ GUARDED_BY(mutex_) = 0;
  std::vector<AgentExit> exits_ GUARDED_BY(mutex_);
  int ends_ GUARDED_BY(mutex_) = 0;
};

struct TestAgent {
  explicit TestAgent(std::vector<std::string> words, bool with_stdin = true, Confinement confinement = {}) {
    AgentSpec spec;
    spec.command = {MISBEHAVING_AGENT};
    spec.command.insert(spec.command.end(), words.begin(), words.end());
    spec.environment = {"SHEPHERD_TEST_MARK=" + mark};
    spec.directory = "/";
    spec.with_stdin = with_stdin;
    spec.warden_program = MISBEHAVING_AGENT;
    spec.confinement = std::move(confinement);
    auto started = AgentProcess::start(spec, listener, clock);
    EXPECT_TRUE(started) << started.error().message;
    if (started) process = std::move(*started);
  }

  bool ready() {
    return eventually([this] { return listener.out().find("ready") != std::string::npos; });
  }
  AgentEnd end() {
    auto ended = process->wait(90s);
    EXPECT_TRUE(ended) << "it did not end";
    return ended.value_or(AgentEnd{});
  }

  std::string mark = fresh_mark();
  SystemClock clock;
  RecordingObserver listener;
  std::unique_ptr<AgentProcess> process;
};

// Every rung, with short waits.
inline StopPlan quick_plan() {
  StopPlan plan;
  plan.interrupt_wait = plan.close_wait = plan.terminate_wait = 20ms;
  return plan;
}

}  // namespace shepherd
