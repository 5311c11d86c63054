#include "driver/json_slices.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "model/json_scan.h"

namespace shepherd {
namespace {

namespace ondemand = simdjson::ondemand;

// An event's detail holds the record two levels down.
constexpr std::size_t kMostDepth = kMaxJsonDepth - 4;
constexpr std::size_t kFirstCapacity = 64 * kKiB;

JsonKind kind_of(char first) {
  switch (first) {
    case '"':
      return JsonKind::string;
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    default:
      return JsonKind::number;
  }
}

bool is_json(std::string_view line) {
  simdjson::dom::parser parser;
  return parser.parse(simdjson::padded_string(line)).error() == simdjson::SUCCESS;
}

// The walk believes the last byte: a record that was cut off has none that closes it.
bool is_closed(std::string_view record) {
  return record.size() > 1 &&
         ((record.front() == '{' && record.back() == '}') || (record.front() == '[' && record.back() == ']'));
}

// Most keys have no escapes: they are their own text.
bool read_key(simdjson::simdjson_result<ondemand::field>& field, std::string_view& key) {
  ondemand::raw_json_string raw;
  if (field.key().get(raw) != simdjson::SUCCESS) return false;
  const char* end = raw.raw();
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '\\') return field.unescaped_key().get(key) == simdjson::SUCCESS;
  key = std::string_view(raw.raw(), static_cast<std::size_t>(end - raw.raw()));
  return true;
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

std::optional<unsigned> escaped_unit(std::string_view json, std::size_t at) {
  return json.substr(std::min(at, json.size())).starts_with("\\u") ? hex4(json.substr(at + 2)) : std::nullopt;
}

constexpr auto kEscapes = [] {
  std::array<bool, 256> known{};
  for (char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'}) known[static_cast<unsigned char>(c)] = true;
  return known;
}();

// What the quick look at a line's structure leaves open about its strings.
bool has_good_escapes(std::string_view json) {
  for (std::size_t at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    char what = at + 1 < json.size() ? json[at + 1] : '\0';
    if (what == 'u') {
      auto unit = escaped_unit(json, at);
      bool pair = is_high(unit) && is_low(escaped_unit(json, at + 6));
      if (!unit || (!pair && (is_high(unit) || is_low(unit)))) return false;
      at += pair ? 12 : 6;
    } else {
      if (!kEscapes[static_cast<unsigned char>(what)]) return false;
      at += 2;
    }
  }
  return true;
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
  // Agents write compact JSON; minifying is a copy that makes sure of it. Where it took something away, that may have
  // been what kept two numbers apart.
  bool closed = simdjson::minify(line.data(), line.size(), buffer_.data(), size_) == simdjson::SUCCESS;
  bool whole = closed && (size_ == line.size() || is_json(line));
  // What an earlier line left there must not look like the rest of this one.
  std::fill_n(buffer_.begin() + static_cast<std::ptrdiff_t>(size_), simdjson::SIMDJSON_PADDING, '\0');
  if (whole && is_closed({buffer_.data(), size_}) && has_good_escapes({buffer_.data(), size_}) && parse_buffer(descend))
    return true;
  nodes_.assign(1, JsonNode{});
  return false;
}

bool JsonSlices::parse_buffer(Descend descend) {
  nodes_.clear();
  nodes_.emplace_back();
  descend_ = descend;
  if (parser_->iterate(buffer_.data(), size_, buffer_.size()).get(document_) != simdjson::SUCCESS) return false;
  ondemand::value root;  // an object or an array: a value alone is no record
  if (document_.get_value().get(root) != simdjson::SUCCESS || !walk(root, 0, 1, true)) return false;
  const char* more = nullptr;  // nothing may follow it
  return document_.current_location().get(more) != simdjson::SUCCESS;
}

std::uint32_t JsonSlices::add(std::uint32_t parent, std::uint32_t previous, std::string_view key) {
  auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back().key = key;
  (previous == 0 ? nodes_[parent].child : nodes_[previous].next) = index;
  return index;
}

// The value as JSON must be, where nobody looks at it. Its escapes were checked with the line's.
bool JsonSlices::check(ondemand::value& value, std::size_t depth) {
  std::string_view token = value.raw_json_token();
  if (token.empty()) return false;
  switch (kind_of(token.front())) {
    case JsonKind::string:
      return true;  // the iteration passes over it
    case JsonKind::object: {
      ondemand::object object;
      if (depth > kMostDepth || value.get_object().get(object) != simdjson::SUCCESS) return false;
      for (auto field : object) {
        ondemand::value member;
        if (field.value().get(member) != simdjson::SUCCESS || !check(member, depth + 1)) return false;
      }
      return true;
    }
    case JsonKind::array: {
      ondemand::array array;
      if (depth > kMostDepth || value.get_array().get(array) != simdjson::SUCCESS) return false;
      for (auto element : array) {
        ondemand::value member;
        if (element.get(member) != simdjson::SUCCESS || !check(member, depth + 1)) return false;
      }
      return true;
    }
    case JsonKind::boolean: {
      bool flag = false;
      return value.get_bool().get(flag) == simdjson::SUCCESS;
    }
    case JsonKind::null: {
      bool null = false;
      return value.is_null().get(null) == simdjson::SUCCESS && null;
    }
    case JsonKind::number: {
      ondemand::number number;
      return value.get_number().get(number) == simdjson::SUCCESS;
    }
  }
  return false;
}

// Walks a value that becomes the node; `open`: its members do too.
bool JsonSlices::walk(ondemand::value& value, std::uint32_t node, std::size_t depth, bool open) {
  std::string_view token = value.raw_json_token();
  if (token.empty()) return false;
  JsonKind kind = kind_of(token.front());
  if (kind == JsonKind::object || kind == JsonKind::array) {
    if (!(open ? walk_members(value, node, depth, kind) : check(value, depth))) return false;
    const char* end = buffer_.data() + size_;
    if (depth > 1 && document_.current_location().get(end) != simdjson::SUCCESS) return false;
    token = std::string_view(token.begin(), end);
  } else if (kind == JsonKind::string && token.find('\\') != std::string_view::npos) {
    if (value.get_string().get(nodes_[node].text) != simdjson::SUCCESS) return false;
  } else if (!check(value, depth)) {
    return false;
  }
  // Most strings have no escapes: they are their own text.
  if (kind == JsonKind::string && nodes_[node].text.data() == nullptr) {
    nodes_[node].text = token.substr(1, token.size() - 2);
  }
  nodes_[node].slice = token;
  nodes_[node].kind = kind;
  return true;
}

bool JsonSlices::walk_members(ondemand::value& value, std::uint32_t node, std::size_t depth, JsonKind kind) {
  if (depth > kMostDepth) return false;
  std::uint32_t previous = 0;
  if (kind == JsonKind::array) {
    ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return false;
    for (auto element : array) {
      ondemand::value member;
      if (element.get(member) != simdjson::SUCCESS) return false;
      previous = add(node, previous, {});
      if (!walk(member, previous, depth + 1, true)) return false;
    }
    return true;
  }
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field : object) {
    std::string_view key;
    ondemand::value member;
    if (!read_key(field, key) || field.value().get(member) != simdjson::SUCCESS) return false;
    previous = add(node, previous, key);
    std::string_view token = member.raw_json_token();
    bool look = (token.starts_with('{') || token.starts_with('[')) && descend_(key, nodes_[node].key);
    if (!walk(member, previous, depth + 1, look)) return false;
  }
  return true;
}

const JsonNode& JsonSlices::find(const JsonNode& object, std::string_view key) const {
  static const JsonNode none;
  for (std::uint32_t at = object.child; at != 0; at = nodes_[at].next) {
    if (nodes_[at].key == key) return nodes_[at];
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
    auto unit = escaped_unit(json, at);
    if (!unit) {
      at += 2;
      continue;
    }
    if (is_high(unit) && is_low(escaped_unit(json, at + 6))) {
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
