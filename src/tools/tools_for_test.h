// The built-in tools over a temporary directory, and a loop that a test turns.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "tools/built_in.h"

namespace shepherd {

// Threads: caller.
class ToolWorld {
 public:
  ToolWorld() : base_(make_base()) {
    std::filesystem::create_directories(root());
    settings.root = root();
  }
  ~ToolWorld() {
    runs.clear();
    tools.reset();
    std::filesystem::remove_all(base_);
  }
  ToolWorld(const ToolWorld&) = delete;
  ToolWorld& operator=(const ToolWorld&) = delete;

  std::string root() const { return base_ + "/files"; }
  std::string outside() const { return base_; }

  Result<void> open() {
    BuiltInParts parts{loop, threads, clock, search, environment, confinement, MISBEHAVING_AGENT};
    auto opened = open_built_in_tools(settings, std::move(parts));
    if (!opened) return fail(opened.error());
    tools = *std::move(opened);
    return {};
  }

  // Calls a tool and waits for its outcome.
  ToolOutcome call(std::string name, std::string arguments) {
    if (tools == nullptr) {
      EXPECT_TRUE(open());
    }
    std::optional<ToolOutcome> outcome;
    auto run = tools->start(
        {"session-1", "call-1", std::move(name), std::move(arguments)},
        [&](ToolOutcome done) { outcome = std::move(done); },
        [&](std::string_view line) { progress.emplace_back(line); });
    EXPECT_FALSE(outcome) << "done was called inside start()";
    EXPECT_TRUE(turn_until([&] { return outcome.has_value(); })) << "no outcome";
    return outcome.value_or(ToolOutcome{});
  }

  template <class Fact>
  bool turn_until(Fact fact) {
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!fact()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop.turn(std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
    }
    return true;
  }

  void write(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(root() + "/" + path).parent_path());
    std::ofstream(root() + "/" + path, std::ios::binary) << content;
  }
  std::string read(const std::string& path) const {
    std::ifstream file(root() + "/" + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool exists(const std::string& path) const { return std::filesystem::exists(root() + "/" + path); }

  ToolSettings settings;
  SearchMessages search;
  std::vector<std::string> environment{"PATH=/usr/bin:/bin"};
  Confinement confinement;
  SystemClock clock;
  net::EventLoop loop;
  ThreadPool threads{"tools", 3};
  std::unique_ptr<Toolbox> tools;
  std::vector<std::unique_ptr<ToolRun>> runs;
  std::vector<std::string> progress;

 private:
  static std::string make_base() {
    std::string path = std::filesystem::temp_directory_path() / "tools-test-XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    return std::filesystem::canonical(path);
  }

  std::string base_;
};

}  // namespace shepherd
