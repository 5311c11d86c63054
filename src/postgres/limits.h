// The bounds of postgres, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

inline constexpr std::chrono::seconds kPostgresConnect{5};  // a server that is there answers within milliseconds
// A statement of ours takes milliseconds; one that takes this long waits for a server that no longer answers.
inline constexpr std::chrono::seconds kPostgresStatement{20};
// Waiting for another replica's transaction. Beyond this, both may wait for each other, and one has to start again.
inline constexpr std::chrono::milliseconds kPostgresLock{1'000};
inline constexpr std::chrono::seconds kPostgresSilence{10};  // unanswered bytes on the connection
// Statements that are sent before their answers are read. Their answers fit into the socket's buffers, so that neither
// side waits for the other to read.
inline constexpr std::size_t kPostgresPipeline = 256;

}  // namespace shepherd
