#include "json/slices.h"

#include "json/limits.h"
#include "json/scan.h"

namespace shepherd {
namespace {

// An event's detail holds the record two levels down.
constexpr std::size_t kMostDepth = kMaxJsonDepth - 4;
static_assert(kMostDepth < 64, "JsonSlices::pass() has a bit for each level");

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

bool is_container(char first) {
  return first == '{' || first == '[';
}

}  // namespace

JsonSlices::JsonSlices() {
  nodes_.resize(1);
}

bool JsonSlices::parse(std::string_view line, Descend descend) {
  descend_ = descend;
  bool good = tokens_.read(line) && walk_record();
  // Agents write compact JSON. Where one does not, its text is made so: it stands in events as it is here.
  if (good && tokens_.had_blanks()) good = tokens_.read_compact() && walk_record();
  if (!good) nodes_.assign(1, JsonNode{});
  return good;
}

// An object or an array, and nothing behind it: a value alone is no record.
bool JsonSlices::walk_record() {
  nodes_.clear();
  nodes_.emplace_back();
  return is_container(tokens_.first()) && walk(0, 1, true) && tokens_.at_end();
}

std::uint32_t JsonSlices::add(std::uint32_t parent, std::uint32_t previous, std::string_view key) {
  auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back().key = key;
  (previous == 0 ? nodes_[parent].child : nodes_[previous].next) = index;
  return index;
}

// The key of a member, and the colon behind it.
bool JsonSlices::read_key(std::string_view& key) {
  if (!tokens_.pass_string()) return false;
  key = tokens_.passed_text();
  return tokens_.pass_structure(':');
}

// Passes the container here, of which nobody looks at anything: one bit for each level that is open, set in objects.
bool JsonSlices::pass(std::size_t depth) {
  std::uint64_t objects = 0;
  std::size_t open = 0;
  auto key = [&] { return tokens_.pass_string() && tokens_.pass_structure(':'); };
  for (;;) {
    // Here is a value.
    char first = tokens_.first();
    if (is_container(first)) {
      if (depth + open > kMostDepth) return false;
      bool object = first == '{';
      objects = objects << 1U | (object ? 1U : 0U);
      ++open;
      tokens_.pass_structure(first);
      if (tokens_.first() != (object ? '}' : ']')) {
        if (object && !key()) return false;
        continue;
      }
    } else if (!tokens_.pass_scalar()) {
      return false;
    }
    // Behind a value: its container ends, and perhaps those around it, or another value follows.
    while (!tokens_.pass_structure(',')) {
      if (!tokens_.pass_structure((objects & 1U) != 0 ? '}' : ']')) return false;
      objects >>= 1U;
      if (--open == 0) return true;
    }
    if ((objects & 1U) != 0 && !key()) return false;
  }
}

// The value here becomes the node; `open`: its members do too.
bool JsonSlices::walk(std::uint32_t node, std::size_t depth, bool open) {
  char first = tokens_.first();
  const char* begin = tokens_.position();
  if (is_container(first)) {
    if (!(open ? walk_members(node, depth, first) : pass(depth))) return false;
    nodes_[node].slice = {begin, tokens_.position()};
  } else {
    if (!tokens_.pass_scalar()) return false;
    nodes_[node].slice = tokens_.passed();
    if (first == '"') nodes_[node].text = tokens_.passed_text();
  }
  nodes_[node].kind = kind_of(first);
  return true;
}

bool JsonSlices::walk_members(std::uint32_t node, std::size_t depth, char first) {
  if (depth > kMostDepth) return false;
  bool object = first == '{';
  char close = object ? '}' : ']';
  tokens_.pass_structure(first);
  if (tokens_.pass_structure(close)) return true;
  std::uint32_t previous = 0;
  do {
    std::string_view key;
    if (object && !read_key(key)) return false;
    previous = add(node, previous, key);
    bool look = !object || (is_container(tokens_.first()) && descend_(key, nodes_[node].key));
    if (!walk(previous, depth + 1, look)) return false;
  } while (tokens_.pass_structure(','));
  return tokens_.pass_structure(close);
}

const JsonNode& JsonSlices::find(const JsonNode& object, std::string_view key) const {
  static const JsonNode none;
  for (std::uint32_t at = object.child; at != 0; at = nodes_[at].next) {
    std::string_view known = nodes_[at].key;
    // Few keys have the same length and beginning, so few calls are made to compare them.
    if (known.size() == key.size() && known.front() == key.front() && known == key) return nodes_[at];
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

}  // namespace shepherd
