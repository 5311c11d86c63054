// Parses any text as JSON. The validating parser and JsonSlices accept the same records and read the same members and
// texts. Walking never leaves the text, whatever it contains.
#include <simdjson.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "json/limits.h"
#include "json/read.h"
#include "json/scan.h"
#include "json/slices.h"
#include "json/tree.h"

namespace {

using namespace shepherd;

constexpr std::size_t kDeepestRecord = kMaxJsonDepth - 4;  // the depth that JsonSlices accepts

bool into_all(std::string_view, std::string_view) {
  return true;
}
bool into_none(std::string_view, std::string_view) {
  return false;
}

bool within(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// The text may not be JSON; every result must still lie inside it.
void walk(std::string_view json, int depth = 0) {
  JsonMembers members(json);
  while (members.next()) {
    SHEPHERD_ASSERT(within(members.key(), json) && within(members.value(), json), "a member lies in the text");
    SHEPHERD_ASSERT(members.value().size() < json.size(), "a value is smaller than what holds it");
    static_cast<void>(string_value(members.value()));
    static_cast<void>(number_value(members.value()));
    static_cast<void>(count_value(members.value()));
    static_cast<void>(unescape(inside_quotes(members.value())));
    if (depth < 4) walk(members.value(), depth + 1);
  }
  SHEPHERD_ASSERT(members.end() == std::string_view::npos || members.end() <= json.size(), "so does the end");
  if (auto elements = array_elements(json)) {
    for (auto element : *elements) SHEPHERD_ASSERT(within(element, json), "an element lies in the text");
  }
  SHEPHERD_ASSERT(longest_string(json) <= json.size(), "so does the longest string");
}

// The nodes of a record must equal the parser's elements.
void compare(const JsonSlices& slices, const JsonNode& node, simdjson::dom::element element) {
  if (element.is_object()) {
    SHEPHERD_ASSERT(node.kind == JsonKind::object, "an object is one");
    const JsonNode* child = slices.first(node);
    for (auto [key, value] : element.get_object()) {
      SHEPHERD_ASSERT(child != nullptr && child->key == key, "members come in order, by the same names");
      compare(slices, *child, value);
      child = slices.after(*child);
    }
    SHEPHERD_ASSERT(child == nullptr, "there are no more");
  } else if (element.is_array()) {
    SHEPHERD_ASSERT(node.kind == JsonKind::array, "an array is one");
    const JsonNode* child = slices.first(node);
    for (auto value : element.get_array()) {
      SHEPHERD_ASSERT(child != nullptr, "elements come in order");
      compare(slices, *child, value);
      child = slices.after(*child);
    }
    SHEPHERD_ASSERT(child == nullptr, "there are no more");
  } else if (element.is_string()) {
    std::string_view text = element.get_string().value();
    SHEPHERD_ASSERT(node.kind == JsonKind::string && node.text == text, "a text is the same");
    SHEPHERD_ASSERT(string_value(node.slice) == text, "also when it is scanned");
  } else if (element.is_number()) {
    double number = element.get_double().value();
    bool tiny = std::abs(number) < std::numeric_limits<double>::min();  // readers disagree about 1e-400
    SHEPHERD_ASSERT(node.kind == JsonKind::number && (tiny || number_of(node) == number), "a number is the same");
  } else if (element.is_bool()) {
    SHEPHERD_ASSERT(node.kind == JsonKind::boolean && is_true(node) == element.get_bool().value(), "so is a truth");
  } else {
    SHEPHERD_ASSERT(node.kind == JsonKind::null, "so is nothing");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Memory of exactly its size, so that sanitizers detect a read beyond it.
  auto memory = std::make_unique<char[]>(size);
  std::copy_n(data, size, memory.get());
  std::string_view text(memory.get(), size);
  walk(text);
  static_cast<void>(parse_tree(text));

  static JsonSlices kSlices, kAgain;
  bool sliced = kSlices.parse(text, into_all);
  SHEPHERD_ASSERT(kAgain.parse(text, into_none) == sliced, "what is looked into decides nothing");
  JsonParser parser(text.size());
  auto root = parser.parse(text);
  if (sliced) {
    std::size_t depth = 0;
    std::string compact(kSlices.text());
    SHEPHERD_ASSERT(end_of_value(compact, 0, &depth) == compact.size(), "a record is one value");
    SHEPHERD_ASSERT(depth <= kDeepestRecord, "and not too deep");
    SHEPHERD_ASSERT(kAgain.parse(compact, into_all) && kAgain.text() == compact, "compact text stays as it is");
    if (!root) std::fprintf(stderr, "sliced, but %s\n", root.error().message.c_str());
    SHEPHERD_ASSERT(root.has_value(), "what JsonSlices takes is JSON");
    compare(kSlices, kSlices.root(), *root);
    return 0;
  }
  if (!root || !(root->is_object() || root->is_array())) return 0;
  std::size_t depth = 0;
  end_of_value(text, text.find_first_not_of(" \t\r\n"), &depth);
  SHEPHERD_ASSERT(depth > kDeepestRecord, "JsonSlices takes every record that is not too deep");
  return 0;
}
