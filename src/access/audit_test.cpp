#include "access/audit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "access/audit_file.h"
#include "access/limits.h"

namespace shepherd {
namespace {

namespace json = boost::json;

class AuditTest : public testing::Test {
 protected:
  AuditTest() {
    std::string name = testing::TempDir() + "auditXXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~AuditTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Audit> open() {
    auto audit = Audit::open(directory_, metrics_);
    EXPECT_TRUE(audit.has_value()) << audit.error().message;
    return std::move(*audit);
  }
  static std::vector<std::string> lines(const std::filesystem::path& path) {
    std::vector<std::string> out;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) out.push_back(line);
    return out;
  }
  std::vector<std::string> lines() { return lines(directory_ / "audit.ndjson"); }

  std::filesystem::path directory_;
  MetricRegistry metrics_;
};

AuditRecord request(std::int64_t at_ms) {
  return {.at_ms = at_ms,
          .person = "ada",
          .token_id = "01h",
          .peer = "127.0.0.1:5000",
          .method = "GET",
          .path = "/api/v1/tasks/task-1/events",
          .status = 200,
          .reason = "",
          .first = 3,
          .last = 9,
          .duration_ms = 12};
}

TEST_F(AuditTest, WritesOneLineARecord) {
  {
    auto audit = open();
    audit->record(request(1771423200123));
    audit->record({.at_ms = 1,
                   .person = "",
                   .token_id = "",
                   .peer = "10.0.0.1:1",
                   .method = "POST",
                   .path = "/a\"\n\xff",
                   .status = 401,
                   .reason = "bad_token",
                   .first = -1,
                   .last = -1,
                   .duration_ms = 0});
  }
  auto written = lines();
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(written[0],
            R"({"at":"2026-02-18T14:00:00.123Z","person":"ada","token":"01h","peer":"127.0.0.1:5000","method":"GET",)"
            R"("path":"/api/v1/tasks/task-1/events","status":200,"first":3,"last":9,"durationMS":12})");
  auto second = json::parse(written[1]).as_object();
  EXPECT_EQ(second.at("path"), "/a\"\n\xef\xbf\xbd");
  EXPECT_EQ(second.at("reason"), "bad_token");
  EXPECT_FALSE(second.contains("person"));
  EXPECT_FALSE(second.contains("first"));
  struct stat facts{};
  ASSERT_EQ(::stat((directory_ / "audit.ndjson").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(AuditTest, FlushesByItself) {
  auto audit = open();
  audit->record(request(1));
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (lines().empty() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(AuditTest, KeepsOrderAndCountsOverThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20'000;
  {
    auto audit = open();
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          auto record = request(i);
          record.status = t;
          audit->record(std::move(record));
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  std::uint64_t dropped = metrics_.counter("shepherd_audit_dropped_total", "").value();
  std::uint64_t written = metrics_.counter("shepherd_audit_records_total", "").value();
  EXPECT_EQ(written + dropped, std::uint64_t{kThreads * kEach});
  std::vector<std::string> newest(kThreads);
  std::uint64_t records = 0;
  std::uint64_t told = 0;
  for (const auto& line : lines()) {
    auto object = json::parse(line).as_object();
    if (object.contains("dropped")) {
      told += object.at("dropped").to_number<std::uint64_t>();
      continue;
    }
    ++records;
    auto& before = newest[object.at("status").to_number<std::size_t>()];
    std::string at(object.at("at").as_string());
    EXPECT_LT(before, at);
    before = at;
  }
  EXPECT_EQ(records, written);
  EXPECT_EQ(told, dropped);
}

TEST_F(AuditTest, NeverBlocksAndSaysHowManyWereDropped) {
  // A pipe without a reader simulates a disk that is too slow.
  std::string path = directory_ / "audit.ndjson";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto audit = open();
  Counter& dropped = metrics_.counter("shepherd_audit_dropped_total", "");
  while (dropped.value() < 10) audit->record(request(1));

  std::vector<std::string> written;
  std::thread reader([&] { written = lines(path); });
  audit.reset();
  reader.join();
  std::uint64_t told = 0;
  std::uint64_t records = 0;
  for (const auto& line : written) {
    auto object = json::parse(line).as_object();
    if (object.contains("dropped")) {
      told += object.at("dropped").to_number<std::uint64_t>();
    } else {
      ++records;
    }
  }
  EXPECT_EQ(told, dropped.value());
  EXPECT_EQ(records, metrics_.counter("shepherd_audit_records_total", "").value());
  EXPECT_GE(records, kAuditQueue);
}

TEST_F(AuditTest, RotatesBySizeAndKeepsSoManyFiles) {
  std::string path = directory_ / "audit.ndjson";
  AuditFile file(path, 100, 3);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(file.append(std::string(38, static_cast<char>('a' + i)) + "\n").has_value());
  EXPECT_EQ(lines(path), (std::vector<std::string>{std::string(38, 's'), std::string(38, 't')}));
  EXPECT_EQ(lines(path + ".1"), (std::vector<std::string>{std::string(38, 'q'), std::string(38, 'r')}));
  EXPECT_EQ(lines(path + ".2").size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(path + ".3"));
}

TEST_F(AuditTest, EndsATornLine) {
  std::string path = directory_ / "audit.ndjson";
  std::ofstream(path) << "{\"at\":\"torn";
  {
    AuditFile file(path);
    ASSERT_TRUE(file.append("whole\n").has_value());
  }
  EXPECT_EQ(lines(path), (std::vector<std::string>{"{\"at\":\"torn", "whole"}));
}

TEST_F(AuditTest, TakesBackWhatAFullDiskCutOff) {
  std::string path = directory_ / "audit.ndjson";
  AuditFile file(path);
  ASSERT_TRUE(file.append("first\n").has_value());
  // A file size limit simulates a full disk.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit small{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  auto appended = file.append("second\nthird\n");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_FALSE(appended.has_value());
  ASSERT_TRUE(file.append("fourth\n").has_value());
  EXPECT_EQ(lines(path), (std::vector<std::string>{"first", "fourth"}));
}

TEST_F(AuditTest, SaysWhyItCannotOpen) {
  auto audit = Audit::open(directory_ / "missing", metrics_);
  ASSERT_FALSE(audit.has_value());
  EXPECT_EQ(audit.error().reason, "audit_file");
}

}  // namespace
}  // namespace shepherd
