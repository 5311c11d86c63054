// Compares the cost of searching for secrets with two costs that the same bytes have anyway: one memchr pass over a
// text, and the rest of the intake's work on an event.
//
//     redact_bench REPOSITORY        reads code, recorded lines, events and secrets from its src/ and tests/golden/
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/wire_json.h"
#include "redact/redact.h"
#include "redact/text_class.h"

namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 15;
constexpr std::size_t kLeastBytes = 8 * 1024 * 1024;
constexpr std::size_t kPieceBytes = 1024;  // agents read and write code in pieces of about this size

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> files_under(const fs::path& root, std::initializer_list<const char*> extensions) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    std::string extension = entry.path().extension();
    if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> code(const fs::path& root) {
  std::vector<std::string> pieces;
  for (const auto& path : files_under(root / "src", {".cpp", ".h"})) {
    std::string text = read_all(path);
    for (std::size_t at = 0; at < text.size(); at += kPieceBytes) pieces.push_back(text.substr(at, kPieceBytes));
  }
  return pieces;
}

std::vector<std::string> lines(const fs::path& directory, std::initializer_list<const char*> extensions) {
  std::vector<std::string> out;
  for (const auto& path : files_under(directory, extensions)) {
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) out.push_back(std::move(line));
    }
  }
  return out;
}

// Events as a producer posts them, without the members that the server adds.
std::vector<std::string> events(const fs::path& root) {
  std::vector<std::string> out;
  for (const auto& line : lines(root / "tests/golden/claude/expected", {".ndjson"})) {
    boost::json::object event = boost::json::parse(line).as_object();
    event.erase("detail");
    out.push_back(boost::json::serialize(event));
  }
  return out;
}

std::vector<std::string> events_with_secrets(const fs::path& root) {
  std::vector<std::string> out;
  boost::json::value rows = boost::json::parse(read_all(root / "tests/golden/redaction/secrets.json"));
  for (const auto& row : rows.as_array()) {
    std::string text(row.at("text").as_string());
    for (std::size_t at = text.find("<+>"); at != std::string::npos; at = text.find("<+>")) text.erase(at, 3);
    out.push_back(boost::json::serialize(boost::json::object{
        {"type", "tool_call"}, {"summary", "Running it"}, {"tool", "Bash"}, {"input", {{"command", text}}}}));
  }
  return out;
}

// CPU time of this thread, so that other load on the machine does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Pass {
  double best = 1e9;
  template <class Work>
  void run(const std::vector<std::string>& texts, std::size_t repeats, Work work) {
    double begin = cpu_seconds();
    for (std::size_t i = 0; i < repeats; ++i) {
      for (const auto& text : texts) work(text);
    }
    best = std::min(best, cpu_seconds() - begin);
  }
};

std::size_t sink = 0;

// Alternates the two passes, so that a temporary slowdown of the machine affects both.
template <class Work, class Peer>
void row(const char* title, const char* peer_title, const std::vector<std::string>& texts, Work work, Peer peer) {
  std::size_t bytes = 0;
  for (const auto& text : texts) bytes += text.size();
  if (bytes == 0) return;
  std::size_t repeats = kLeastBytes / bytes + 1;
  Pass mine, bare;
  for (int round = 0; round < kRounds; ++round) {
    bare.run(texts, repeats, peer);
    mine.run(texts, repeats, work);
  }
  double megabytes = static_cast<double>(bytes * repeats) / 1e6;
  std::printf("%-28s %6zu texts of %5zu bytes %8.0f MB/s   %s %8.0f MB/s   %6.1f %%\n", title, texts.size(),
              bytes / texts.size(), megabytes / mine.best, peer_title, megabytes / bare.best,
              100 * bare.best / mine.best);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: redact_bench REPOSITORY\n");
    return 2;
  }
  fs::path root = argv[1];
  shepherd::Redactor redactor = shepherd::Redactor::create({}).value();
  shepherd::Intake redacting{.redactor = &redactor, .now_ms = 1'794'766'800'000};
  shepherd::Intake plain{.now_ms = 1'794'766'800'000};

  auto search = [&](const std::string& text) { sink += redactor.may_match(text) ? 1 : 0; };
  auto lookup = [](const std::string& text) {
    for (char c : text) sink += shepherd::kByteClass[static_cast<unsigned char>(c)];
  };
  auto take_in = [](const shepherd::Intake& intake) {
    return [&intake](const std::string& text) {
      auto batch = shepherd::decode_events(text, shepherd::Framing::json, intake);
      sink += batch ? batch->bytes.size() : 0;
    };
  };
  // The search stops early in a text that contains a secret, so only clean texts are measured.
  auto clean = [&](std::vector<std::string> texts) {
    std::erase_if(texts, [&](const std::string& text) { return redactor.may_match(text); });
    return texts;
  };
  row("search, code", "table pass", clean(code(root)), search, lookup);
  row("search, recorded lines", "table pass", clean(lines(root / "tests/golden/claude/recordings", {".jsonl"})), search,
      lookup);
  row("search, events", "table pass", clean(events(root)), search, lookup);
  row("intake, events", "without redaction", events(root), take_in(redacting), take_in(plain));
  row("intake, events with secrets", "without redaction", events_with_secrets(root), take_in(redacting),
      take_in(plain));
  std::printf("(checksum %zu)\n", sink % 1000);
  return 0;
}
