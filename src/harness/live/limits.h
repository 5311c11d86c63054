// The bounds of harness/live, with their reasons. Threads: value.
#pragma once

#include <chrono>

namespace shepherd {

inline constexpr std::chrono::milliseconds kLiveCheckAnswer{20'000};  // for one step of an agent; --timeout changes it
inline constexpr int kLiveRunAnswers = 6;                             // a whole run may take this many steps' time
inline constexpr std::chrono::milliseconds kLiveFileLook{50};  // between two looks for a file that a command makes

}  // namespace shepherd
