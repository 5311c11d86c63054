// The bounds of terminal, with their reasons. Threads: value.
#pragma once

#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMaxInputLineBytes = 16 * kMiB;     // one line of standard input: an event with its detail
inline constexpr std::size_t kMaxTypedBytes = 1 * kMiB;          // typed or pasted text: what a chat takes as a prompt
inline constexpr std::size_t kMaxInlineMarkdown = 8 * kKiB;      // of a longer line the looks are not searched for
inline constexpr std::size_t kMaxTableRows = 500;                // of Markdown, before it is shown as it is
inline constexpr std::size_t kMaxHistoryEntries = 1'000;         // newest lines that a history keeps
inline constexpr std::size_t kMaxHistoryBytes = 4 * kMiB;        // of its file: it is read whole
inline constexpr std::size_t kMaxHistoryEntryBytes = 16 * kKiB;  // longer ones, such as pasted files, are not kept

}  // namespace shepherd
