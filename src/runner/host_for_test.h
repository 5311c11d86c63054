// Asks for what an agent can ask its machine for, and keeps the answers.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "process/test_agents.h"
#include "runner/host_calls.h"

namespace shepherd {

// Threads: the test's.
class HostWorld {
 public:
  HostWorld() {
    directory = std::filesystem::canonical(std::filesystem::temp_directory_path()) / fresh_mark();
    std::filesystem::create_directories(directory / "work/inside");
    std::filesystem::create_directories(directory / "hidden");
    std::ofstream(directory / "hidden/token") << "the-admins-token";
    beside.environment = {"PATH=/usr/bin:/bin", "SHEPHERD_TEST_MARK=" + mark, "LANG=C"};
    beside.directory = work();
    beside.with_stdin = false;
    beside.warden_program = MISBEHAVING_AGENT;
  }
  ~HostWorld() {
    calls.reset();
    EXPECT_TRUE(carriers_of(mark).empty()) << "a process of a terminal is left";
    std::filesystem::remove_all(directory);
  }
  HostWorld(const HostWorld&) = delete;
  HostWorld& operator=(const HostWorld&) = delete;

  std::string work() const { return directory / "work"; }
  std::string at(const std::string& path) const { return directory / "work" / path; }
  void put(const std::string& path, const std::string& text) const { std::ofstream(at(path)) << text; }
  std::string text(const std::string& path) const {
    std::ifstream file(at(path), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // The first call begins it, with what hidden and beside are then.
  std::string ask(HostRequest request) {
    if (calls == nullptr) {
      calls = std::make_unique<HostCalls>(HostPlace{HostFiles::open(work(), hidden), beside}, clock,
                                          [this](HostAnswer answer) { keep(std::move(answer)); });
    }
    std::string id = std::to_string(++asked);
    if (auto now = calls->take({id, std::move(request)})) keep(*std::move(now));
    return id;
  }
  HostAnswer wait(const std::string& id) {
    EXPECT_TRUE(eventually([&] { return answered(id); })) << "no answer to call " << id;
    MutexLock lock(mutex_);
    return answered_locked(id) ? answers_.at(id).front() : HostAnswer{id, fail(ErrorCode::internal, "none", "none")};
  }
  HostAnswer result(HostRequest request) { return wait(ask(std::move(request))); }
  // The reason of the error; or empty.
  std::string reason(HostRequest request) {
    HostAnswer answer = result(std::move(request));
    return answer.result ? "" : answer.result.error().reason;
  }
  std::string read(const std::string& path) {
    HostAnswer answer = result(ReadFile{path, {}, {}});
    if (!answer.result) return answer.result.error().reason;
    return std::get<FileText>(*answer.result).text;
  }
  std::string start(const std::string& script, std::optional<std::size_t> keep_bytes = {}) {
    HostAnswer answer = result(StartTerminal{{"sh", "-c", script}, {}, "", keep_bytes});
    EXPECT_TRUE(answer.result) << answer.result.error().message;
    return answer.result ? std::get<TerminalStarted>(*answer.result).terminal : "";
  }
  TerminalState state(HostRequest request) {
    HostAnswer answer = result(std::move(request));
    EXPECT_TRUE(answer.result) << answer.result.error().message;
    return answer.result ? std::get<TerminalState>(*answer.result) : TerminalState{};
  }
  bool shows(const std::string& terminal, const std::string& text) {
    return eventually([&] { return state(LookAtTerminal{terminal}).output.find(text) != std::string::npos; });
  }

  bool answered(const std::string& id) {
    MutexLock lock(mutex_);
    return answered_locked(id);
  }
  // The calls in the order of their answers.
  std::vector<std::string> order() {
    MutexLock lock(mutex_);
    return order_;
  }

  const std::string mark = fresh_mark();
  std::filesystem::path directory;
  std::vector<std::string> hidden;
  AgentSpec beside;
  SystemClock clock;
  std::function<void()> before_answer;  // called on the thread that answers
  std::size_t asked = 0;
  std::unique_ptr<HostCalls> calls;

 private:
  bool answered_locked(const std::string& id) const { return answers_.contains(id); }
  void keep(HostAnswer answer) {
    if (before_answer) before_answer();
    MutexLock lock(mutex_);
    EXPECT_TRUE(answers_[answer.id].empty()) << "a second answer to call " << answer.id;
    order_.push_back(answer.id);
    std::string id = answer.id;
    answers_[id].push_back(std::move(answer));
  }

  Mutex mutex_;
  std::map<std::string, std::vector<HostAnswer>> answers_;
  std::vector<std::string> order_;
};

}  // namespace shepherd
