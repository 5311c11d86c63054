// Condenses any object as a tool's input. Every string stays bounded and keeps whole characters from its start,
// condensing twice equals condensing once, and the result states correctly whether anything was cut.
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "driver/line_splitter.h"
#include "json/tree.h"
#include "model/condense.h"

namespace {

using namespace shepherd;

CondenseRules rules() {
  return {16, 12, 8, {{"Grep", 4}}};
}

bool is_bounded(const boost::json::value& value, std::size_t characters) {
  if (const auto* text = value.if_string()) return characters_in({text->data(), text->size()}) <= characters;
  if (const auto* array = value.if_array()) {
    for (const auto& each : *array) {
      if (!is_bounded(each, characters)) return false;
    }
  }
  if (const auto* object = value.if_object()) {
    for (const auto& [key, each] : *object) {
      if (!is_bounded(each, key == "command" ? std::size_t{16} : characters)) return false;
    }
  }
  return true;
}

void check_text(std::string_view text, std::size_t characters) {
  std::string_view kept = first_characters(text, characters);
  SHEPHERD_ASSERT(text.starts_with(kept) && characters_in(kept) <= characters,
                  "a beginning of at most as many characters");
  std::string store;
  SHEPHERD_ASSERT(readable_text(kept, store) == kept, "of whole characters");
  bool whole = characters_in(text) <= characters;
  SHEPHERD_ASSERT((kept.size() == text.size()) == whole, "all of it when it is short enough");
  std::string marked = std::string(kept) + (whole ? "" : "... (truncated)");
  SHEPHERD_ASSERT(truncated(text, characters) == marked, "and a mark where something is missing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string store;
  for (std::size_t characters : {0, 1, 5, 500}) check_text(readable_text(bytes, store), characters);
  auto tree = parse_tree(bytes);
  if (!tree || !tree->is_object()) return 0;
  for (std::string_view tool : {"Bash", "Grep"}) {
    boost::json::object input = tree->get_object();
    bool cut = condense_input(tool, input, rules());
    SHEPHERD_ASSERT(cut || input == tree->get_object(), "what was not cut is as it was");
    SHEPHERD_ASSERT(is_bounded(input, tool == "Grep" ? 4 : 8), "every string is bounded");
    boost::json::object again = input;
    SHEPHERD_ASSERT(!condense_input(tool, again, rules()) && again == input, "condensing changes nothing twice");
  }
  return 0;
}
