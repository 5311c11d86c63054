// Pieces of JSON text as they were sent, byte for byte: what `--json`, export and event views hand on must not be
// re-encoded. For JSON that a server has validated; on anything malformed these answer nothing rather than guess.
// Threads: value.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace shepherd {

// The value of a top-level member of an object, e.g. `{"from":1}` for member "data"; empty when there is none.
std::string_view json_member(std::string_view object, std::string_view name);

// The elements of an array; nullopt when the text is not an array.
std::optional<std::vector<std::string_view>> json_elements(std::string_view array);

}  // namespace shepherd
