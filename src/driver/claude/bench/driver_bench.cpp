// Translating recorded stream-json against a bare simdjson on-demand pass that visits every value of the same bytes.
//
//     driver_bench FILE…        recordings (stdout of an agent, or {"dir","t_ms","line"} lines)
#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "driver/claude/claude_code.h"
#include "json/scan.h"

namespace {

namespace ondemand = simdjson::ondemand;

constexpr int kRounds = 15;
constexpr std::size_t kLeastBytes = 32 * 1024 * 1024;

std::vector<std::string> read_lines(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(R"({"dir":)")) {
      if (shepherd::find_member(line, "dir") != "\"out\"") continue;
      line = shepherd::string_value(shepherd::find_member(line, "line")).value_or("");
    }
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// Visits every value: what any reader of the whole line must pay.
template <class Value>
std::size_t visit(Value&& value) {
  std::size_t sum = 0;
  switch (value.type()) {
    case ondemand::json_type::object:
      for (auto field : value.get_object()) {
        sum += field.unescaped_key().value().size();
        sum += visit(field.value());
      }
      break;
    case ondemand::json_type::array:
      for (auto element : value.get_array()) sum += visit(element.value());
      break;
    case ondemand::json_type::string:
      sum += value.get_string().value().size();
      break;
    case ondemand::json_type::number:
      sum += static_cast<std::size_t>(value.get_double().value());
      break;
    case ondemand::json_type::boolean:
      sum += value.get_bool().value() ? 1 : 0;
      break;
    case ondemand::json_type::null:
      break;
  }
  return sum;
}

// Of this thread: what else runs on the machine does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

template <class Work>
void keep_best_seconds(double& best, Work work) {
  double begin = cpu_seconds();
  work();
  best = std::min(best, cpu_seconds() - begin);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> lines;
  for (int i = 1; i < argc; ++i) {
    for (auto& line : read_lines(argv[i])) lines.push_back(std::move(line));
  }
  ondemand::parser parser;
  std::vector<simdjson::padded_string> padded;
  std::vector<std::string> good;
  std::size_t bytes = 0;
  for (const auto& line : lines) {
    simdjson::padded_string text(line);
    simdjson::dom::parser check;
    if (check.parse(text).error() != simdjson::SUCCESS) continue;
    bytes += line.size() + 1;
    padded.push_back(std::move(text));
    good.push_back(line);
  }
  if (bytes == 0) {
    std::fprintf(stderr, "usage: driver_bench RECORDING...\n");
    return 2;
  }
  std::size_t repeats = kLeastBytes / bytes + 1;
  std::size_t sink = 0;
  auto bare_pass = [&] {
    for (std::size_t i = 0; i < repeats; ++i) {
      for (const auto& text : padded) {
        auto document = parser.iterate(text);
        sink += visit(document.get_value().value());
      }
    }
  };
  std::size_t events = 0;
  auto translation = [&] {
    shepherd::Actions out;
    for (std::size_t i = 0; i < repeats; ++i) {
      shepherd::ClaudeCode driver;
      for (const auto& line : good) {
        driver.record(line, 1'794'766'800'000, out);
        events += out.shown();
        out.clear();
      }
    }
  };
  // In turns: a machine that is slower for a while is so for both.
  double bare = 1e9, translated = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    keep_best_seconds(bare, bare_pass);
    keep_best_seconds(translated, translation);
  }
  double megabytes = static_cast<double>(bytes * repeats) / 1e6;
  std::printf("lines %zu, bytes %zu, repeated %zu times (checksum %zu)\n", good.size(), bytes, repeats, sink % 1000);
  std::printf("bare on-demand pass  %8.0f MB/s\n", megabytes / bare);
  std::printf("translation          %8.0f MB/s  %.0f lines/s, %zu events a round\n", megabytes / translated,
              static_cast<double>(good.size() * repeats) / translated, events / kRounds);
  std::printf("ratio                %8.1f %%\n", 100 * bare / translated);
  return 0;
}
