// One JSON record, read once: its members as slices of the source text, its strings unescaped.
//
// A bounded part of the record becomes nodes (the members a driver looks at, see Descend); everything else is walked
// and checked but kept as one slice. A record that parsed is valid JSON throughout and not deeper than an event's
// detail may be, so its text can be embedded in an event as it is.
// Threads: caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "json/tokens.h"

namespace shepherd {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

struct JsonNode {
  std::string_view key;    // empty for elements of an array and for the root
  std::string_view slice;  // compact source text
  std::string_view text;   // strings: unescaped
  JsonKind kind = JsonKind::null;
  std::uint32_t child = 0;  // index of the first child; 0: none, or not looked into
  std::uint32_t next = 0;   // index of the next sibling; 0: last
};

// True: the members of the object or array that stands under `key`, in the object under `parent`, become nodes too.
using Descend = bool (*)(std::string_view key, std::string_view parent);

class JsonSlices {
 public:
  JsonSlices();

  // False when the line is not one JSON value, or nested too deep. The nodes are then empty. Valid until the next
  // parse.
  bool parse(std::string_view line, Descend descend);

  const JsonNode& root() const { return nodes_.front(); }
  std::string_view text() const { return root().slice; }  // the record, compact

  // Never null: what is not there is a node of kind null. A key has at least one character.
  const JsonNode& find(const JsonNode& object, std::string_view key) const;
  const JsonNode& find(std::string_view key) const { return find(root(), key); }
  const JsonNode* first(const JsonNode& parent) const { return parent.child == 0 ? nullptr : &nodes_[parent.child]; }
  const JsonNode* after(const JsonNode& node) const { return node.next == 0 ? nullptr : &nodes_[node.next]; }

  // The string under key; empty when it is none.
  std::string_view string(const JsonNode& object, std::string_view key) const { return find(object, key).text; }
  std::string_view string(std::string_view key) const { return find(key).text; }

 private:
  bool walk_record();
  bool walk(std::uint32_t node, std::size_t depth, bool open);
  bool walk_members(std::uint32_t node, std::size_t depth, char first);
  bool pass(std::size_t depth);
  bool read_key(std::string_view& key);
  std::uint32_t add(std::uint32_t parent, std::uint32_t previous, std::string_view key);

  JsonTokens tokens_;
  std::vector<JsonNode> nodes_;
  Descend descend_ = nullptr;
};

bool is_true(const JsonNode& node);
std::optional<double> number_of(const JsonNode& node);
std::optional<std::uint64_t> count_of(const JsonNode& node);  // a whole number >= 0

}  // namespace shepherd
