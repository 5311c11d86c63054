#include "outbound/callback_record.h"

#include <array>
#include <charconv>

#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::array<std::string_view, 3> kStates{"pending", "sent", "failed"};

std::string_view state_name(CallbackRecord::State state) {
  return kStates[static_cast<std::size_t>(state)];
}

std::int64_t number(std::string_view json, std::string_view key) {
  return static_cast<std::int64_t>(count_value(find_member(json, key)).value_or(0));
}

constexpr char kPlaceMark = '#';  // never part of a task id

}  // namespace

std::string record_key(const CallbackPlace& place) {
  if (place.sequence == CallbackPlace::kEnd) return place.task;
  return place.task + kPlaceMark + std::to_string(place.sequence);
}

CallbackPlace callback_place(std::string_view record_key) {
  std::size_t mark = record_key.find(kPlaceMark);
  CallbackPlace place{std::string(record_key.substr(0, mark))};
  if (mark == std::string_view::npos) return place;
  std::from_chars(record_key.data() + mark + 1, record_key.data() + record_key.size(), place.sequence);
  return place;
}

std::string encode_callback_cursor(const CallbackCursor& cursor) {
  std::string out = object_text([&](JsonObject& object) {
    object.number("through", cursor.through);
    object.json("started", cursor.started ? "true" : "false");
    object.number("createdMS", cursor.created_ms);
  });
  return out;
}

CallbackCursor decode_callback_cursor(std::string_view json) {
  return {count_value(find_member(json, "through")).value_or(0), find_member(json, "started") == "true",
          number(json, "createdMS")};
}

std::string encode_callback_record(const CallbackRecord& record) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("state", state_name(record.state));
    object.number("attempts", record.attempts);
    object.number("nextMS", record.next_ms);
    object.number("claimedMS", record.claimed_ms);
    object.text_unless_empty("claimedBy", record.claimed_by);
    object.number("createdMS", record.created_ms);
    object.number("status", static_cast<std::int64_t>(record.status));
    object.text("error", record.error);
  });
  return out;
}

CallbackRecord decode_callback_record(std::string_view json) {
  CallbackRecord record;
  std::string state = string_value(find_member(json, "state")).value_or("");
  if (state == "sent") record.state = CallbackRecord::State::sent;
  if (state == "failed") record.state = CallbackRecord::State::failed;
  record.attempts = number(json, "attempts");
  record.next_ms = number(json, "nextMS");
  record.claimed_ms = number(json, "claimedMS");
  record.claimed_by = string_value(find_member(json, "claimedBy")).value_or("");
  record.created_ms = number(json, "createdMS");
  record.status = static_cast<int>(number(json, "status"));
  record.error = string_value(find_member(json, "error")).value_or("");
  return record;
}

std::string encode_callback(const CallbackRecord& record) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("state", state_name(record.state));
    object.number("attempts", record.attempts);
    if (record.status != 0) object.number("status", static_cast<std::int64_t>(record.status));
    object.text_unless_empty("error", record.error);
    bool waits = record.state == CallbackRecord::State::pending && record.next_ms != 0;
    if (waits) object.time("nextAttemptAt", record.next_ms);
  });
  return out;
}

}  // namespace shepherd
