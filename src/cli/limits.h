// The bounds of cli, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- the server process ---
inline constexpr int kMallocArenas = 4;  // each keeps its freed memory
inline constexpr int kMallocKeepBytes =
    2 * static_cast<int>(kMiB);  // freed memory kept, so that a replay's pages are not faulted in again

// --- terminal, hooks and imports ---
inline constexpr std::chrono::milliseconds kReplayIdle{3'000};  // replay shortens longer pauses of a log to this
inline constexpr std::size_t kReplayPage = 500;                 // events that replay reads per request
inline constexpr std::chrono::milliseconds kStopWait{30'000};   // `stop` waits this long for the agent to end
inline constexpr std::chrono::milliseconds kStopLook{100};      // between two polls while `stop` waits
// After a command's expiry, for the server to report it.
inline constexpr std::chrono::milliseconds kSettleSlack{5'000};
inline constexpr std::size_t kMaxSettingsBytes = 4 * kMiB;  // an agent's settings file that hooks are added to
inline constexpr std::size_t kCompletedTasks = 100;         // newest ids that shell completion offers
inline constexpr std::size_t kInboxInputLines = 12;    // input lines per approval in `inbox`; the rest is marked as cut
inline constexpr std::size_t kInboxTitleColumns = 24;  // least width of a title beside the task's usage in `inbox`
inline constexpr std::size_t kTopTasks = 2'000;        // rows that `top` keeps
inline constexpr std::size_t kTopLogLines = 1'000;     // newest events of the log that `top` shows
inline constexpr std::chrono::milliseconds kTopRefresh{1'000};  // updates elapsed times
inline constexpr std::chrono::milliseconds kTopInbox{10'000};   // the inbox can change without any event

// --- chat ---
inline constexpr std::size_t kChatToolCalls = 1'000;         // of one conversation that can be looked at in full
inline constexpr std::size_t kChatShownMessages = 20;        // of a session when it is opened; sessions in a list
inline constexpr std::chrono::milliseconds kChatRedraw{33};  // between two drawings, so that fast models cost little
inline constexpr std::chrono::milliseconds kChatEscapeWait{
    50};  // an escape that stands alone for this long is the key itself
inline constexpr std::chrono::milliseconds kChatEventWait{1'000};  // for the events of an answer that is here
inline constexpr std::chrono::milliseconds kChatReadingTime{500};  // a faster answer was typed before the question came

// --- runner: many tasks ---
inline constexpr std::size_t kMaxTaskFileBytes = 4 * kMiB;
inline constexpr std::size_t kMaxFileTasks = 1'000;           // tasks in one file
inline constexpr std::chrono::milliseconds kBoardTick{250};   // redraw interval of the live lines
inline constexpr std::size_t kBoardFixedColumns = 32;         // state, time and cost of the last table, and its gaps
inline constexpr std::size_t kBoardResultColumns = 20;        // in less room than this the table has no results
inline constexpr std::size_t kBoardNameColumns = 8;           // names are not cut shorter than this
inline constexpr std::size_t kMaxMarkerBytes = 48;            // of [redacted:KIND:N]; a longer text in brackets is none
inline constexpr std::size_t kChatLeastColumns = 10;          // a narrower terminal is treated as one with these
inline constexpr std::uint64_t kDiskWarnBytes = 1024 * kMiB;  // free space below which `doctor` warns
inline constexpr std::uint64_t kDiskFailBytes = 100 * kMiB;   // free space below which `doctor` fails: commits soon do
inline constexpr std::size_t kLeastWrapColumns = 20;          // no wrapping on a terminal narrower than this
inline constexpr std::chrono::milliseconds kTerminalLook{100};  // poll interval of `run` for signals, keys and the end
inline constexpr std::chrono::milliseconds kReadingTime{500};   // a faster answer was meant for the previous question
inline constexpr int kTopEscapeWaitMs = 25;             // an escape that stands alone for this long is the key itself
inline constexpr std::chrono::minutes kImportQuiet{2};  // a transcript written to since may belong to an active session
inline constexpr std::chrono::milliseconds kReplayLook{50};  // between two looks at the keys, also at full speed

}  // namespace shepherd
