// The bounds of tools, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- results ---
inline constexpr std::size_t kMaxToolResultBytes = 64 * kKiB;  // of any tool; about 16,000 tokens of a model's context
inline constexpr std::size_t kMaxDescribedCharacters = 160;    // of an argument in a line for people

// --- files ---
inline constexpr std::size_t kMaxToolPathBytes = 4 * kKiB;  // what the kernel takes
inline constexpr std::size_t kMaxShownLines = 2'000;        // of a file, if the model names no limit
inline constexpr std::size_t kMaxSkippedBytes = 64 * kMiB;  // read to find a line; reading more takes too long
inline constexpr std::size_t kFileReadBytes = 64 * kKiB;    // one read of a file
inline constexpr std::size_t kMaxEditedBytes = 4 * kMiB;    // of a file to edit, which is in memory twice
inline constexpr std::size_t kMaxListedFiles = 1'000;       // in one list; more are counted
inline constexpr std::size_t kMaxWalkedFiles = 100'000;     // looked at for one list
inline constexpr std::int64_t kMaxListDepth = 16;           // directories below the one that is listed
inline constexpr int kTemporaryNames = 16;                  // tried for a new file before it is renamed

// --- commands ---
inline constexpr std::size_t kMaxShellCommandBytes = 32 * kKiB;       // a longer script belongs into a file
inline constexpr std::size_t kMaxCommandHeadBytes = 16 * kKiB;        // kept of the beginning of an output
inline constexpr std::size_t kMaxCommandTailBytes = 16 * kKiB;        // kept of its end, where errors are
inline constexpr std::size_t kMaxCommands = 64;                       // at the same time, each with a thread
inline constexpr std::int64_t kCommandSeconds = 120;                  // time limit, if the model names none
inline constexpr std::int64_t kMaxCommandSeconds = 600;               // default of the longest one it can name
inline constexpr std::chrono::milliseconds kCommandStopWait{500};     // SIGTERM to SIGKILL, so that git can tidy up
inline constexpr std::chrono::milliseconds kCommandProgress{10'000};  // between two lines about a command that runs

// --- addresses ---
inline constexpr std::size_t kMaxFetchedUrlBytes = 4 * kKiB;
inline constexpr std::size_t kMaxFetchedBytes = 4 * kMiB;       // of a page, before it becomes text
inline constexpr std::chrono::milliseconds kFetchWait{30'000};  // redirects included
inline constexpr int kMaxRedirects = 5;                         // a sixth is a loop
inline constexpr std::size_t kMaxEntityBytes = 32;              // of a character's name in HTML

// --- past sessions ---
inline constexpr std::size_t kMaxSessionQueryBytes = kMaxQueryBytes;
inline constexpr std::size_t kFoundMessages = 10;     // if the model names no limit
inline constexpr std::size_t kMaxFoundMessages = 50;  // a model reads every one of them

}  // namespace shepherd
