// The tool that searches past sessions. Threads: any; the tool is the loop's.
#pragma once

#include <memory>

#include "base/executor.h"
#include "tools/built_in.h"
#include "tools/built_in_tool.h"

namespace shepherd {

// Everything referred to outlives the tool.
std::unique_ptr<BuiltInTool> make_search_sessions(SearchMessages search, Executor& loop, Executor& blocking);

}  // namespace shepherd
