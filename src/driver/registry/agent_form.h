// Which driver reads what an agent printed. An agent may have several forms: Gemini speaks a stream of its own and the
// Agent Client Protocol.
// Threads: any.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace shepherd {

// The drivers that may read it, the likeliest first; empty: no agent or driver has this name.
std::vector<std::string_view> drivers_for(std::string_view agent);

// The driver among `candidates` whose form this record has. nullopt: the record does not say, as words for people
// between the records do not.
std::optional<std::string_view> driver_of_record(const std::vector<std::string_view>& candidates,
                                                 std::string_view record);

}  // namespace shepherd
