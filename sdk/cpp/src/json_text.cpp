#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "shepherd/agent/finding.h"
#include "utf8.h"

namespace shepherd::agent {

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (char c : valid_utf8(text)) {
    switch (c) {
      case '"':
        json += "\\\"";
        break;
      case '\\':
        json += "\\\\";
        break;
      case '\n':
        json += "\\n";
        break;
      case '\r':
        json += "\\r";
        break;
      case '\t':
        json += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escaped[8];
          std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
          json += escaped;
        } else {
          json += c;
        }
    }
  }
  return json + '"';
}

std::string to_json(const Finding& finding) {
  char confidence[32];
  std::snprintf(confidence, sizeof confidence, "%.4g", std::isfinite(finding.confidence) ? finding.confidence : 0.0);
  std::string json = "{\"id\":" + quoted(finding.id) + ",\"title\":" + quoted(finding.title) +
                     ",\"description\":" + quoted(finding.description) + ",\"severity\":" + quoted(finding.severity) +
                     ",\"confidence\":" + confidence + ",\"category\":" + quoted(finding.category) +
                     ",\"mitre_techniques\":[";
  for (const std::string& technique : finding.mitre_techniques) json += quoted(technique) + ",";
  if (json.back() == ',') json.pop_back();
  json += "],\"evidence\":[";
  for (const Evidence& evidence : finding.evidence) {
    json += "{\"type\":" + quoted(evidence.type) + ",\"title\":" + quoted(evidence.title) +
            ",\"content\":" + quoted(evidence.content) + "},";
  }
  if (json.back() == ',') json.pop_back();
  return json + "]}";
}

}  // namespace shepherd::agent
