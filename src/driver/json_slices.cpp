#include "driver/json_slices.h"

#include "base/limits.h"
#include "model/json_scan.h"

namespace shepherd {
namespace {

namespace ondemand = simdjson::ondemand;

// An event's detail holds the record two levels down.
constexpr std::size_t kMostDepth = kMaxJsonDepth - 4;
constexpr std::size_t kFirstCapacity = 64 * kKiB;

std::string_view without_trailing_blank(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n')) {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<unsigned> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  unsigned value = 0;
  for (char c : text.substr(0, 4)) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<unsigned>((c | 0x20) - 'a') + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return value;
}

bool is_high(std::optional<unsigned> unit) {
  return unit && *unit >= 0xD800 && *unit <= 0xDBFF;
}
bool is_low(std::optional<unsigned> unit) {
  return unit && *unit >= 0xDC00 && *unit <= 0xDFFF;
}

}  // namespace

JsonSlices::JsonSlices() : parser_(std::make_unique<ondemand::parser>()) {
  nodes_.resize(1);
}
JsonSlices::~JsonSlices() = default;

bool JsonSlices::parse(std::string_view line, Descend descend) {
  if (buffer_.capacity() > kParserKeepBytes && line.size() <= kParserKeepBytes) {
    buffer_ = std::string();
    parser_ = std::make_unique<ondemand::parser>();
  }
  if (buffer_.size() < line.size() + simdjson::SIMDJSON_PADDING) {
    buffer_.resize(std::max(kFirstCapacity, line.size() + line.size() / 2) + simdjson::SIMDJSON_PADDING);
  }
  std::size_t size = 0;
  // Agents write compact JSON; minifying is a copy that makes sure of it.
  bool closed = simdjson::minify(line.data(), line.size(), buffer_.data(), size) == simdjson::SUCCESS;
  if (closed && parse_buffer(size, descend)) return true;
  nodes_.assign(1, JsonNode{});
  return false;
}

bool JsonSlices::parse_buffer(std::size_t size, Descend descend) {
  nodes_.clear();
  nodes_.emplace_back();
  descend_ = descend;
  if (size == 0) return false;
  if (parser_->iterate(buffer_.data(), size, buffer_.size()).get(document_) != simdjson::SUCCESS) return false;
  std::string_view all(buffer_.data(), size);
  bool container = all.front() == '{' || all.front() == '[';
  if (!container || !walk(document_, 0, 1, true)) return false;
  nodes_[0].slice = all;
  const char* more = nullptr;  // nothing may follow the value
  return document_.current_location().get(more) != simdjson::SUCCESS;
}

std::uint32_t JsonSlices::add(std::uint32_t parent, std::uint32_t previous, std::string_view key) {
  auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back().key = key;
  (previous == 0 ? nodes_[parent].child : nodes_[previous].next) = index;
  return index;
}

// Walks the value; `node` is where it is noted, or 0 with `open` false when it is only checked.
template <class Value>
bool JsonSlices::walk(Value&& value, std::uint32_t node, std::size_t depth, bool open) {
  ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return false;
  bool noted = node != 0 || depth == 1;
  switch (type) {
    case ondemand::json_type::object:
      return walk_container(value, node, depth, open, JsonKind::object);
    case ondemand::json_type::array:
      return walk_container(value, node, depth, open, JsonKind::array);
    default:
      break;
  }
  if constexpr (!std::is_same_v<std::remove_cvref_t<Value>, ondemand::document>) {
    std::string_view token = noted ? without_trailing_blank(value.raw_json_token()) : std::string_view();
    JsonKind kind = JsonKind::null;
    std::string_view text;
    bool good = false;
    if (type == ondemand::json_type::string) {
      kind = JsonKind::string;
      good = value.get_string().get(text) == simdjson::SUCCESS;
    } else if (type == ondemand::json_type::number) {
      kind = JsonKind::number;
      ondemand::number number;
      good = value.get_number().get(number) == simdjson::SUCCESS;
    } else if (type == ondemand::json_type::boolean) {
      kind = JsonKind::boolean;
      bool flag = false;
      good = value.get_bool().get(flag) == simdjson::SUCCESS;
    } else {
      bool null = false;
      good = value.is_null().get(null) == simdjson::SUCCESS && null;
    }
    if (good && noted) {
      nodes_[node].slice = token;
      nodes_[node].text = text;
      nodes_[node].kind = kind;
    }
    return good;
  }
  return false;
}

template <class Value>
bool JsonSlices::walk_container(Value&& value, std::uint32_t node, std::size_t depth, bool open, JsonKind kind) {
  if (depth > kMostDepth) return false;
  bool root = depth == 1;
  const char* begin = nullptr;
  if (root) {
    begin = buffer_.data();
  } else if (node != 0) {
    if constexpr (!std::is_same_v<std::remove_cvref_t<Value>, ondemand::document>) {
      begin = value.raw_json_token().data();
    }
  }
  std::uint32_t previous = 0;
  if (kind == JsonKind::object) {
    ondemand::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return false;
    for (auto field : object) {
      std::string_view key;
      ondemand::value member;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
      if (field.value().get(member) != simdjson::SUCCESS) return false;
      std::uint32_t child = open ? add(node, previous, key) : 0;
      if (!walk(member, child, depth + 1, open && descend_(key, nodes_[node].key))) return false;
      previous = child;
    }
  } else {
    ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return false;
    for (auto element : array) {
      ondemand::value member;
      if (element.get(member) != simdjson::SUCCESS) return false;
      std::uint32_t child = open ? add(node, previous, {}) : 0;
      if (!walk(member, child, depth + 1, open)) return false;
      previous = child;
    }
  }
  if (root || node != 0) {
    nodes_[node].kind = kind;
    const char* end = begin;
    if (!root && document_.current_location().get(end) != simdjson::SUCCESS) return false;
    nodes_[node].slice = std::string_view(begin, static_cast<std::size_t>(end - begin));
  }
  return true;
}

const JsonNode& JsonSlices::find(const JsonNode& object, std::string_view key) const {
  static const JsonNode none;
  for (const JsonNode* node = first(object); node != nullptr; node = after(*node)) {
    if (node->key == key) return *node;
  }
  return none;
}

bool is_true(const JsonNode& node) {
  return node.kind == JsonKind::boolean && node.slice == "true";
}
std::optional<double> number_of(const JsonNode& node) {
  return node.kind == JsonKind::number ? number_value(node.slice) : std::nullopt;
}
std::optional<std::uint64_t> count_of(const JsonNode& node) {
  return node.kind == JsonKind::number ? count_value(node.slice) : std::nullopt;
}

std::optional<std::string> without_lone_surrogates(std::string_view json) {
  std::string out;
  std::size_t kept = 0;
  for (std::size_t at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    if (json.substr(at, 2) != "\\u") {
      at += 2;
      continue;
    }
    auto unit = hex4(json.substr(std::min(at + 2, json.size())));
    bool pair = is_high(unit) && json.substr(std::min(at + 6, json.size())).starts_with("\\u") &&
                is_low(hex4(json.substr(at + 8)));
    if (pair) {
      at += 12;
      continue;
    }
    if (is_high(unit) || is_low(unit)) {
      out.append(json.substr(kept, at - kept)).append("\\ufffd");
      kept = at + 6;
    }
    at += 2;
  }
  if (kept == 0) return std::nullopt;
  out.append(json.substr(kept));
  return out;
}

}  // namespace shepherd
