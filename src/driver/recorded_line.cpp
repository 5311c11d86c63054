#include "driver/recorded_line.h"

#include <charconv>

#include "driver/http_envelope.h"
#include "json/scan.h"

namespace shepherd {
namespace {

// "HTTP 200 for POST /session", with the answer's body beside it.
std::optional<std::string> recorded_answer(std::string_view text, std::string_view body) {
  constexpr std::string_view kHttp = "HTTP ", kFor = " for ";
  std::size_t about = text.find(kFor);
  if (!text.starts_with(kHttp) || about == std::string_view::npos) return std::nullopt;
  int status = 0;
  std::from_chars(text.data() + kHttp.size(), text.data() + about, status);
  std::string_view request = text.substr(about + kFor.size());
  std::size_t blank = request.find(' ');
  if (status == 0 || blank == std::string_view::npos) return std::nullopt;
  HttpEnvelope asked{"", std::string(request.substr(0, blank)), std::string(request.substr(blank + 1)), ""};
  return http_answer_record(asked, status, body);
}

}  // namespace

std::optional<RecordedLine> recorded_line(std::string_view line) {
  using Side = RecordedLine::Side;
  if (!line.starts_with(R"({"dir":")")) return std::nullopt;
  std::string direction = text_member(line, "dir");
  std::string_view said = find_member(line, "line");
  if (!said.starts_with('"')) return std::nullopt;
  RecordedLine recorded;
  recorded.at_ms = static_cast<std::int64_t>(count_value(find_member(line, "t_ms")).value_or(0));
  recorded.text = string_value(said).value_or("");
  constexpr std::string_view kData = "data: ";
  if (direction == "in") recorded.side = Side::client;
  if (direction == "out") {
    recorded.side = Side::agent;
    if (auto answer = recorded_answer(recorded.text, find_member(line, "body"))) recorded.text = *std::move(answer);
  }
  if (direction == "sse" && recorded.text.starts_with(kData)) {
    recorded.side = Side::agent;
    recorded.text = http_event_record(std::string_view(recorded.text).substr(kData.size()));
  }
  return recorded;
}

}  // namespace shepherd
