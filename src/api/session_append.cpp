#include "api/session_append.h"

#include "driver/event_json.h"

namespace shepherd {
namespace {

constexpr std::size_t kTitleCharacters = 120;

}  // namespace

Result<DraftBatch> drafts_of(std::span<const DriverEvent> events, const Intake& intake) {
  std::string lines;
  for (const DriverEvent& event : events) {
    append_posted(lines, event, 0);
    lines.push_back('\n');
  }
  if (lines.empty()) return DraftBatch{};
  return decode_events(lines, Framing::ndjson, intake);
}

Result<std::uint64_t> append_to_session(WriteTxn& txn, const std::string& task, const DraftBatch& drafts,
                                        SessionAppend how) {
  if (drafts.drafts.empty()) return 0;
  AppendRequest request;
  request.task = task;
  request.drafts = drafts;
  request.received_ms = how.now_ms;
  request.by_server = how.by_server;
  Result<Appended> appended = txn.append(request);
  if (appended) return appended->added;
  if (appended.error().code == ErrorCode::gone) return 0;
  return fail(appended.error());
}

bool waits(State state) {
  return state == State::waiting_for_input || state == State::paused || state == State::interrupted;
}

std::string title_of(std::string_view text) {
  return one_line(text.substr(0, text.find_first_of("\r\n")), kTitleCharacters);
}

}  // namespace shepherd
