#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>

#include "harness/report.h"

namespace shepherd::harness {
namespace {

std::string xml(std::string_view text) {
  std::string escaped;
  for (char c : readable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\n':
        escaped += "&#10;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// The length of the UTF-8 character at the start of the text if XML allows it; 0 otherwise.
std::size_t character_at(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  std::size_t length = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xF0 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
    code = (code << 6) | (byte(i) & 0x3FU);
  }
  // Smallest code of that length; codes below 0xA0 are controls.
  constexpr std::uint32_t kSmallest[] = {0, 0, 0xA0, 0x800, 0x10000};
  bool right = code >= kSmallest[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) && code != 0xFFFE &&
               code != 0xFFFF;
  return right ? length : 0;
}

}  // namespace

std::string readable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t length = character_at(text);
    if (length > 0) {
      out.append(text.substr(0, length));
    } else {
      out += text.front() == '\n' ? '\n' : text.front() == '\t' ? ' ' : '?';
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string to_json(const Report& report) {
  boost::json::array checks;
  for (const CheckResult& check : report.checks()) {
    boost::json::object entry{{"check", check.id}, {"title", check.title}, {"verdict", name(check.verdict)}};
    if (!check.note.empty()) entry["note"] = check.note;
    if (check.took_ms >= 0) entry["durationMS"] = check.took_ms;
    if (!check.defects.empty()) {
      boost::json::array defects;
      for (const Defect& defect : check.defects) {
        defects.push_back(boost::json::object{{"defect", defect.code}, {"detail", defect.detail}});
      }
      entry["defects"] = std::move(defects);
    }
    checks.push_back(std::move(entry));
  }
  return boost::json::serialize(boost::json::object{{"agent", report.agent},
                                                    {"passed", !report.failed()},
                                                    {"durationMS", report.duration_ms},
                                                    {"checks", std::move(checks)}});
}

std::string to_junit(const Report& report) {
  std::size_t skipped = report.count(Verdict::skipped) + report.count(Verdict::not_shown);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n<testsuite name=\"shepherd agent test: {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"{}\" "
      "time=\"{:.3f}\">\n",
      xml(report.agent), report.checks().size(), report.count(Verdict::failed), skipped,
      static_cast<double>(report.duration_ms) / 1000);
  for (const CheckResult& check : report.checks()) {
    text += fmt::format("<testcase classname=\"agent\" name=\"{}\">", xml(check.id));
    if (!check.defects.empty()) {  // one element for all defects, because not every reader accepts several
      std::string lines;
      for (const Defect& defect : check.defects) lines += fmt::format("{}: {}\n", defect.code, defect.detail);
      const Defect& first = check.defects.front();
      text += fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", xml(first.code),
                          xml(first.code + ": " + first.detail), xml(lines));
    }
    if (check.verdict == Verdict::skipped || check.verdict == Verdict::not_shown) {
      text += fmt::format("<skipped message=\"{}: {}\"/>", name(check.verdict), xml(check.note));
    }
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace shepherd::harness
