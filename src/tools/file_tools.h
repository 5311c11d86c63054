// The tools for files below a root. Threads: any; the tools are the loop's.
#pragma once

#include <memory>

#include "base/executor.h"
#include "tools/built_in_tool.h"
#include "tools/file_root.h"

namespace shepherd {

// All of these outlive the tools.
struct FileToolParts {
  std::shared_ptr<const FileRoot> root;
  Executor& loop;
  Executor& blocking;
};

std::unique_ptr<BuiltInTool> make_read_file(FileToolParts parts);
std::unique_ptr<BuiltInTool> make_list_files(FileToolParts parts);
std::unique_ptr<BuiltInTool> make_write_file(FileToolParts parts);
std::unique_ptr<BuiltInTool> make_edit_file(FileToolParts parts);

}  // namespace shepherd
