// The bounds of terminal, with their reasons. Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMaxInputLineBytes = 16 * kMiB;     // one line of standard input: an event with its detail
inline constexpr std::size_t kMaxTypedBytes = 1 * kMiB;          // typed or pasted text: what a chat takes as a prompt
inline constexpr std::size_t kMaxInlineMarkdown = 8 * kKiB;      // of a longer line the looks are not searched for
inline constexpr std::size_t kMaxTableRows = 500;                // of Markdown, before it is shown as it is
inline constexpr std::size_t kMaxHistoryEntries = 1'000;         // newest lines that a history keeps
inline constexpr std::size_t kMaxHistoryBytes = 4 * kMiB;        // of its file: it is read whole
inline constexpr std::size_t kMaxHistoryEntryBytes = 16 * kKiB;  // longer ones, such as pasted files, are not kept
inline constexpr std::size_t kMaxKeySequenceBytes = 16;          // no key has a longer sequence
inline constexpr int kInputPauseMs = 50;          // after a pause this long, the lines read so far are posted
inline constexpr std::size_t kMaxQuoteDepth = 8;  // of Markdown; deeper quotes are shown as they are
inline constexpr std::int64_t kMaxSpanSeconds = 100LL * 366 * 86'400;  // of a span that a person writes
inline constexpr std::int64_t kMaxKeyWaitMs = 24 * 3'600'000;          // of one wait; callers wait again

}  // namespace shepherd
