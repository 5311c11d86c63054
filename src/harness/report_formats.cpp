#include <fmt/format.h>

#include <boost/json.hpp>

#include "harness/report.h"

namespace shepherd::harness {
namespace {

std::string xml(std::string_view text) {
  std::string escaped;
  for (char c : text) {
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
      case '\t':
        escaped += ' ';
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) escaped += c;  // XML has no way to say the others
    }
  }
  return escaped;
}

}  // namespace

std::string to_json(const Report& report) {
  boost::json::array checks;
  for (const CheckResult& check : report.checks()) {
    boost::json::object entry{{"check", check.id}, {"title", check.title}, {"verdict", name(check.verdict)}};
    if (!check.note.empty()) entry["note"] = check.note;
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
    for (const Defect& defect : check.defects) {
      text += fmt::format("<failure type=\"{0}\" message=\"{0}: {1}\"/>", xml(defect.code), xml(defect.detail));
    }
    if (check.verdict == Verdict::skipped || check.verdict == Verdict::not_shown) {
      text += fmt::format("<skipped message=\"{}: {}\"/>", name(check.verdict), xml(check.note));
    }
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace shepherd::harness
