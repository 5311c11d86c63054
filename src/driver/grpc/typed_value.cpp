#include "driver/grpc/typed_value.h"

#include <cctype>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "gibson/typed_agent.pb.h"
#include "json/write.h"

namespace shepherd {
namespace {

namespace typed = gibson::typed_agent;

// "FINDING_SEVERITY_HIGH" is "high"; what the protocol has no name for, or calls unspecified, is empty.
std::string word_of(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return {};
  std::string word = name.substr(prefix.size());
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word == "unspecified" ? "" : word;
}

void append_mapping(JsonObject& finding, std::string_view key, const typed::MitreMapping& mapping) {
  write_object(finding.member(key), [&](JsonObject& members) {
    members.text_unless_empty("matrix", mapping.matrix());
    members.text_unless_empty("tactic_id", mapping.tactic_id());
    members.text_unless_empty("tactic_name", mapping.tactic_name());
    members.text_unless_empty("technique_id", mapping.technique_id());
    members.text_unless_empty("technique_name", mapping.technique_name());
    std::vector<std::string> subs(mapping.sub_techniques().begin(), mapping.sub_techniques().end());
    if (!subs.empty()) members.texts("sub_techniques", subs);
  });
}

std::vector<std::string> techniques_of(const typed::Finding& finding) {
  std::vector<std::string> all;
  for (const typed::MitreMapping* mapping : {&finding.mitre_attack(), &finding.mitre_atlas()}) {
    if (!mapping->technique_id().empty()) all.push_back(mapping->technique_id());
    all.insert(all.end(), mapping->sub_techniques().begin(), mapping->sub_techniques().end());
  }
  return all;
}

template <class Items, class Fill>
void append_objects(JsonObject& object, std::string_view key, const Items& items, Fill fill) {
  if (items.empty()) return;
  std::string& out = object.member(key);
  out.push_back('[');
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) out.push_back(',');
    write_object(out, [&](JsonObject& members) { fill(members, item); });
  }
  out.push_back(']');
}

void append_evidence(JsonObject& members, const typed::Evidence& evidence) {
  members.text_unless_empty("type", word_of(typed::EvidenceType_Name(evidence.type()), "EVIDENCE_TYPE_"));
  members.text_unless_empty("title", evidence.title());
  members.text_unless_empty("content", evidence.content());
  std::map<std::string, std::string> metadata(evidence.metadata().begin(), evidence.metadata().end());
  if (!metadata.empty()) members.texts("metadata", metadata);
}

void append_step(JsonObject& members, const typed::ReproStep& step) {
  members.number("order", std::int64_t{step.order()});
  members.text_unless_empty("description", step.description());
  members.text_unless_empty("input", step.input());
  members.text_unless_empty("output", step.output());
}

}  // namespace

void append_typed_value(std::string& out, const typed::TypedValue& value) {
  switch (value.kind_case()) {
    case typed::TypedValue::kStringValue:
      return append_json_string(out, value.string_value());
    case typed::TypedValue::kIntValue:
      return append_number(out, static_cast<std::int64_t>(value.int_value()));
    case typed::TypedValue::kDoubleValue:
      return append_number(out, value.double_value());
    case typed::TypedValue::kBoolValue:
      out.append(value.bool_value() ? "true" : "false");
      return;
    case typed::TypedValue::kBytesValue:
      return append_json_string(out, encode_base64(value.bytes_value()));
    case typed::TypedValue::kArrayValue: {
      out.push_back('[');
      bool first = true;
      for (const typed::TypedValue& item : value.array_value().items()) {
        if (!std::exchange(first, false)) out.push_back(',');
        append_typed_value(out, item);
      }
      out.push_back(']');
      return;
    }
    case typed::TypedValue::kMapValue:
      return append_typed_entries(out, value.map_value().entries());
    case typed::TypedValue::kNullValue:
    case typed::TypedValue::KIND_NOT_SET:
      out.append("null");
  }
}

void append_typed_entries(std::string& out, const TypedEntries& entries) {
  std::map<std::string_view, const typed::TypedValue*> sorted;
  for (const auto& [key, value] : entries) sorted.emplace(key, &value);
  out.push_back('{');
  bool first = true;
  for (const auto& [key, value] : sorted) {
    if (!std::exchange(first, false)) out.push_back(',');
    append_json_string(out, key);
    out.push_back(':');
    append_typed_value(out, *value);
  }
  out.push_back('}');
}

std::string typed_finding_json(const typed::Finding& finding) {
  std::string out = object_text([&](JsonObject& object) {
    object.text_unless_empty("id", finding.id());
    object.text_unless_empty("title", finding.title());
    object.text_unless_empty("description", finding.description());
    object.text_unless_empty("severity", word_of(typed::FindingSeverity_Name(finding.severity()), "FINDING_SEVERITY_"));
    object.text_unless_empty("category", finding.category());
    object.text_unless_empty("subcategory", finding.subcategory());
    if (finding.confidence() != 0) object.number("confidence", finding.confidence());
    object.text_unless_empty("status", word_of(typed::FindingStatus_Name(finding.status()), "FINDING_STATUS_"));
    if (std::vector<std::string> techniques = techniques_of(finding); !techniques.empty()) {
      object.texts("mitre_techniques", techniques);
    }
    if (finding.has_mitre_attack()) append_mapping(object, "mitre_attack", finding.mitre_attack());
    if (finding.has_mitre_atlas()) append_mapping(object, "mitre_atlas", finding.mitre_atlas());
    append_objects(object, "evidence", finding.evidence(), append_evidence);
    append_objects(object, "reproduction", finding.reproduction(), append_step);
    if (finding.cvss_score() != 0) object.number("cvss_score", finding.cvss_score());
    if (finding.risk_score() != 0) object.number("risk_score", finding.risk_score());
    object.text_unless_empty("remediation", finding.remediation());
    std::vector<std::string> references(finding.references().begin(), finding.references().end());
    if (!references.empty()) object.texts("references", references);
    object.text_unless_empty("target_id", finding.target_id());
    object.text_unless_empty("technique", finding.technique());
    std::vector<std::string> tags(finding.tags().begin(), finding.tags().end());
    if (!tags.empty()) object.texts("tags", tags);
    object.text_unless_empty("mission_id", finding.mission_id());
    object.text_unless_empty("agent_name", finding.agent_name());
    object.text_unless_empty("delegated_from", finding.delegated_from());
    if (finding.created_at() != 0) object.number("created_at", static_cast<std::int64_t>(finding.created_at()));
    if (finding.updated_at() != 0) object.number("updated_at", static_cast<std::int64_t>(finding.updated_at()));
  });
  return out;
}

}  // namespace shepherd
