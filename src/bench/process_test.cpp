#include "bench/process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "bench/launch.h"
#include "bench/process_usage.h"

namespace shepherd::bench {
namespace {

TEST(Process, SaysALineAndIsGoneAfterwards) {
  Result<Process> process = Process::start({.arguments = {"/bin/sh", "-c", "echo ready; exec sleep 600"}});
  ASSERT_TRUE(process);
  EXPECT_EQ(process->read_line(30).value_or("?"), "ready");
  pid_t pid = process->pid();
  EXPECT_EQ(kill(pid, 0), 0);
  EXPECT_GT(rss_bytes(pid), 0U);
  process->stop();
  EXPECT_NE(kill(pid, 0), 0) << "ended and reaped";
  EXPECT_FALSE(process->running());
  EXPECT_EQ(rss_bytes(pid), 0U);
}

TEST(Process, AnEarlyEndIsAnError) {
  Result<Process> process = Process::start({.arguments = {"/bin/sh", "-c", "exit 3"}});
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->read_line(30));
}

TEST(Process, AProgramThatIsNotThereIsAnError) {
  Result<Process> process = Process::start({.arguments = {"/nowhere/at/all"}});
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->read_line(30));
}

TEST(Launch, NamesThePackageOfAMissingProgram) {
  Result<std::string> found = find_program("no-such-program-here", "some-package");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("apt-get install some-package"), std::string::npos);
  EXPECT_TRUE(find_program("sh", "dash"));
}

TEST(Launch, ScratchDirectoriesGoAway) {
  std::filesystem::path path;
  {
    Result<ScratchDirectory> scratch = ScratchDirectory::create("");
    ASSERT_TRUE(scratch);
    path = scratch->path();
    EXPECT_TRUE(std::filesystem::exists(scratch->make("inside")));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(ScratchDirectory::create("/nowhere/at/all"));
}

}  // namespace
}  // namespace shepherd::bench
