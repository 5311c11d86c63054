#include "runner/task_report.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "driver/grpc/status.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/wire_json.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

void append_processes(std::string& out, std::span<const EndedProcess> processes) {
  char before = '[';
  for (const EndedProcess& process : processes.first(std::min(processes.size(), kMaxEndedInStatus))) {
    out.push_back(std::exchange(before, ','));
    write_object(out, [&](JsonObject& object) {
      object.number("pid", static_cast<std::int64_t>(process.pid));
      object.text("name", std::string_view(process.command_line).substr(0, kCondensedResultCharacters));
      object.text("how", process.how);
    });
  }
  out.append(before == '[' ? "[]" : "]");
}

std::string count(std::size_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

}  // namespace

std::string work_data(const WorkResult& work, const std::string& directory, const std::string& pr_url) {
  return object_text([&](JsonObject& object) {
    object.text_unless_empty("branch", work.branch);
    object.text_unless_empty("head", work.head);
    object.text_unless_empty("directory", directory);
    object.text_unless_empty("prURL", pr_url);
    object.texts("commits", work.commits);
    object.number("commitCount", static_cast<std::uint64_t>(work.commit_count));
    object.texts("files", work.files);
    object.number("filesChanged", static_cast<std::uint64_t>(work.file_count));
    object.number("insertions", work.insertions);
    object.number("deletions", work.deletions);
  });
}

std::string work_summary(const WorkResult& work) {
  if (work.empty()) return "Nothing changed";
  return count(work.commit_count, "commit") + ", " + count(work.file_count, "file") + " changed (+" +
         std::to_string(work.insertions) + " -" + std::to_string(work.deletions) + ") on " + work.branch;
}

std::string end_members(const AgentOutcome& outcome, const std::string& pr_url) {
  std::string members = object_text([&](JsonObject& object) {
    object.text("message", outcome.message);
    object.text_unless_empty("prURL", pr_url);
    if (outcome.end) {
      const AgentEnd& end = *outcome.end;
      if (end.stream) {
        write_object(object.member("stream"), [&](JsonObject& stream) {
          stream.text("address", end.stream->address);
          stream.text("status", grpc_status_name(end.stream->status));
          stream.text_unless_empty("message", std::string_view(end.stream->message).substr(0, kMaxSummaryCharacters));
        });
      } else if (end.exit.signal != 0) {
        object.number("signal", static_cast<std::int64_t>(end.exit.signal));
      } else {
        object.number("exitCode", static_cast<std::int64_t>(end.exit.code));
      }
      if (outcome.cause != EndCause::none || end.by_ladder()) {
        object.text("stoppedBy", end.stopped_by());
        append_processes(object.member("ended"), end.ended);
      }
      if (!end.left.empty()) append_processes(object.member("left"), end.left);
      std::size_t more = end.unlisted + end.ended.size() - std::min(end.ended.size(), kMaxEndedInStatus);
      if (outcome.cause != EndCause::none && more > 0) object.number("unlisted", static_cast<std::uint64_t>(more));
      if (!end.stream) object.number("cpuMS", end.cpu_ms);
    } else if (outcome.cause != EndCause::none) {
      object.json("ended", "[]");
    }
  });
  return members.substr(1, members.size() - 2);
}

}  // namespace shepherd
