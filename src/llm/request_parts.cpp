#include "llm/request_parts.h"

#include <fmt/format.h>

#include "json/read.h"
#include "json/scan.h"
#include "json/text.h"
#include "json/tree.h"
#include "llm/chunk_json.h"
#include "llm/limits.h"

namespace shepherd {
namespace {

constexpr std::string_view kNoParameters = R"({"type":"object","properties":{}})";

bool is_object(std::string_view json) {
  JsonParser parser(json.size());
  auto root = parser.parse(json);
  return root && root->is_object();
}

bool has_type(const boost::json::object& schema, std::string_view wanted) {
  const boost::json::value* type = schema.if_contains("type");
  if (type == nullptr) return false;
  if (type->is_string()) return std::string_view(type->get_string()) == wanted;
  if (!type->is_array()) return false;
  for (const boost::json::value& one : type->get_array()) {
    if (one.is_string() && std::string_view(one.get_string()) == wanted) return true;
  }
  return false;
}

void amend_schema(boost::json::value& value) {
  if (value.is_array()) {
    for (boost::json::value& element : value.get_array()) amend_schema(element);
  }
  if (!value.is_object()) return;
  boost::json::object& object = value.get_object();
  for (auto& member : object) amend_schema(member.value());
  if (has_type(object, "array") && !object.contains("items") && !object.contains("prefixItems")) {
    object["items"] = boost::json::object();
  }
}

}  // namespace

std::string tool_schema(std::string_view parameters) {
  if (!is_object(parameters)) return std::string(kNoParameters);
  auto tree = parse_tree(parameters);
  if (!tree || !tree->is_object()) return std::string(kNoParameters);
  boost::json::object& schema = tree->get_object();
  schema.erase("$schema");
  if (!schema.contains("type")) schema["type"] = "object";
  if (!schema.contains("properties")) schema["properties"] = boost::json::object();
  amend_schema(*tree);
  return tree_text(*tree);
}

std::string call_arguments(std::string_view arguments) {
  if (!is_object(arguments)) return "{}";
  std::string out;
  return append_compact_json(out, arguments) ? out : "{}";
}

std::string plain_name(std::string_view name) {
  std::string made(name);
  for (char& c : made) {
    bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!fine) c = '_';
  }
  return made.empty() ? "unnamed" : made;
}

std::string call_name(std::string_view name) {
  return plain_name(name.substr(0, kMaxSentNameBytes));
}

std::map<std::string, std::string> joined_members(std::string_view earlier, std::string_view later) {
  std::map<std::string, std::string> all;
  for (std::string_view json : {earlier, later}) {
    if (!is_object(json)) continue;
    std::string compact;
    append_compact_json(compact, json);
    JsonMembers members(compact);
    while (members.next()) {
      if (auto key = unescape(members.key())) all[*key] = members.value();
    }
  }
  return all;
}

std::vector<ContentPart> content_parts(std::string_view json) {
  std::vector<ContentPart> parts;
  ChunkJson reader;
  auto root = reader.parse(json);
  simdjson::dom::array list;
  if (!root || root->get(list) != simdjson::SUCCESS) return parts;
  for (simdjson::dom::element part : list) {
    ContentPart made;
    std::string_view type = reader.text(part, "type");
    if (type == "text" || type == "input_text") {
      made.text = reader.text(part, "text");
      if (!made.text.empty()) parts.push_back(std::move(made));
    } else if (type == "image_url" || type == "input_image") {
      auto image = member_of(part, "image_url");
      std::string_view url = !image               ? std::string_view()
                             : image->is_string() ? reader.text(*image)
                                                  : reader.text(*image, "url");
      constexpr std::string_view kData = "data:", kBase64 = ";base64,";
      std::size_t comma = url.find(kBase64);
      if (url.starts_with(kData) && comma != std::string_view::npos) {
        made.mime_type = url.substr(kData.size(), comma - kData.size());
        made.base64 = url.substr(comma + kBase64.size());
      } else {
        made.url = url;
      }
      if (!url.empty()) parts.push_back(std::move(made));
    }
  }
  return parts;
}

std::string told_content(const ModelMessage& message, bool takes_images, std::string_view model) {
  std::size_t shown = takes_images && message.images != nullptr ? message.images->size() : 0;
  if (shown >= message.image_count) return message.content;
  std::size_t missing = message.image_count - shown;
  std::string why = takes_images ? "too old or too large to be sent again" : fmt::format("{} takes no images", model);
  return fmt::format("{}{}[{} image{} not shown: {}]", message.content, message.content.empty() ? "" : "\n", missing,
                     missing == 1 ? "" : "s", why);
}

std::size_t loop_start(const std::vector<ModelMessage>& messages) {
  std::size_t at = messages.size();
  while (at > 0) {
    while (at > 0 && messages[at - 1].role != Role::user) --at;
    std::size_t words = at;
    while (words > 0 && messages[words - 1].role == Role::user) --words;
    if (words == 0 || messages[words - 1].role != Role::tool) break;
    at = words;
  }
  return at;
}

}  // namespace shepherd
