#include "rpc/event_frames.h"

#include <cstring>
#include <optional>

#include "base/assert.h"
#include "base/clock.h"
#include "journal/cursor.h"
#include "json/scan.h"
#include "rpc/proto_bytes.h"
#include "shepherd/observability/v1/observability.pb.h"

namespace shepherd {
namespace {

namespace v1 = shepherd::observability::v1;

constexpr std::size_t kHeadBytes = 1 + sizeof(std::uint32_t);

void append_frame(std::string& out, FrameKind kind, const v1::AgentEvent& message) {
  auto size = static_cast<std::uint32_t>(message.ByteSizeLong());
  std::size_t at = out.size();
  out.resize(at + kHeadBytes + size);
  out[at] = static_cast<char>(kind);
  std::memcpy(&out[at + 1], &size, sizeof size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(&out[at + kHeadBytes]));
}

// Returns a reused message for notices, which keeps its memory.
v1::AgentEvent& fresh_message(std::string_view task) {
  thread_local v1::AgentEvent message;
  message.Clear();
  message.set_agent_id(task.data(), task.size());
  return message;
}

// The members of an event that an AgentEvent carries besides its JSON.
struct Shown {
  std::string_view session, summary;  // as escaped in the JSON, without quotes
  std::optional<std::int64_t> timestamp_ms, received_ms;
};

std::optional<std::int64_t> time_of(std::string_view json) {
  Result<std::int64_t> ms = parse_timestamp(inside_quotes(json));
  return ms ? std::optional(*ms) : std::nullopt;
}

// The store wrote this JSON, so it is valid and compact. Otherwise fewer members are set, and event_json still has all
// of it.
Shown read_members(std::string_view json) {
  Shown shown;
  JsonMembers members(json);
  while (members.next()) {
    std::string_view key = members.key();
    if (key == "timestamp") {
      shown.timestamp_ms = time_of(members.value());
    } else if (key == "receivedAt") {
      shown.received_ms = time_of(members.value());
    } else if (key == "summary") {
      shown.summary = inside_quotes(members.value());
      // Walking the remaining members is the expensive part. A capital I is rare, so this search is one memchr.
      if (json.find("ID\":") == std::string_view::npos) break;
    } else if (key == "sessionID") {
      shown.session = inside_quotes(members.value());
      break;  // the last of them in the order of writing
    }
  }
  return shown;
}

// Removes the JSON's escapes, which are rare; `store` then holds the text.
std::string_view plain(std::string_view text, std::string& store) {
  if (text.find('\\') == std::string_view::npos) return text;
  return store = unescape(text).value_or(std::string());
}

// Writes an event's message field by field, because the generated code would copy the JSON twice more.
void append_event(std::string& out, const EventBatch& batch, std::size_t i, std::string_view cursor) {
  using Event = v1::AgentEvent;
  constexpr std::size_t kFields = 9;
  std::string_view json = batch.event(i);
  Shown shown = read_members(json);
  std::string session_store, summary_store;
  std::string_view session = plain(shown.session, session_store), summary = plain(shown.summary, summary_store);
  std::size_t most = kHeadBytes + kFields * ProtoBytes::kMostOfField + batch.task.size() + session.size() +
                     summary.size() + json.size() + cursor.size();
  std::size_t at = out.size();
  out.resize_and_overwrite(at + most, [&](char* bytes, std::size_t) {
    char* begin = bytes + at + kHeadBytes;
    ProtoBytes message(begin);
    message.text(Event::kAgentIdFieldNumber, batch.task);
    message.text(Event::kSessionIdFieldNumber, session);
    message.number(Event::kTypeFieldNumber, static_cast<std::uint64_t>(batch.types[i]));
    if (shown.timestamp_ms) message.time(Event::kTimestampFieldNumber, *shown.timestamp_ms);
    if (shown.received_ms) message.time(Event::kReceivedAtFieldNumber, *shown.received_ms);
    message.number(Event::kSequenceFieldNumber, batch.first + i);
    message.text(Event::kSummaryFieldNumber, summary);
    message.text(Event::kEventJsonFieldNumber, json);
    message.text(Event::kCursorFieldNumber, cursor);
    auto size = static_cast<std::uint32_t>(message.end() - begin);
    bytes[at] = static_cast<char>(FrameKind::event);
    std::memcpy(bytes + at + 1, &size, sizeof size);
    return at + kHeadBytes + size;
  });
}

class TaskFrames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventBatch& batch, std::size_t i) const override {
    append_event(out, batch, i, {});
  }
  void gap(std::string& out, std::string_view task, std::uint64_t from, std::uint64_t to) const override {
    v1::AgentEvent& message = fresh_message(task);
    message.mutable_gap()->set_from(static_cast<std::int64_t>(from));
    message.mutable_gap()->set_to(static_cast<std::int64_t>(to));
    append_frame(out, FrameKind::gap, message);
  }
  void caught_up(std::string& out, std::string_view task, std::uint64_t number) const override {
    v1::AgentEvent& message = fresh_message(task);
    message.mutable_caught_up()->set_sequence(static_cast<std::int64_t>(number));
    append_frame(out, FrameKind::caught_up, message);
  }
  void position(std::string& out, std::string_view task, std::uint64_t number) const override {
    v1::AgentEvent& message = fresh_message(task);
    message.mutable_position()->set_sequence(static_cast<std::int64_t>(number));
    append_frame(out, FrameKind::position, message);
  }
  void delta(std::string&, std::string_view, std::string_view) const override {}
  void complete(std::string& out, std::string_view task, std::string_view data, std::uint64_t) const override {
    v1::AgentEvent& message = fresh_message(task);
    message.mutable_complete()->set_status_json(data.data(), data.size());
    append_frame(out, FrameKind::complete, message);
  }
};

class AllFrames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventBatch& batch, std::size_t i) const override {
    thread_local std::string cursor;
    cursor.clear();
    append_cursor(cursor, batch.position + i);
    append_event(out, batch, i, cursor);
  }
  // Positions are opaque to a caller; the missing events lie before the next cursor.
  void gap(std::string& out, std::string_view task, std::uint64_t, std::uint64_t to) const override {
    v1::AgentEvent& message = fresh_message(task);
    message.mutable_gap();
    append(out, FrameKind::gap, message, to);
  }
  void caught_up(std::string& out, std::string_view task, std::uint64_t number) const override {
    v1::AgentEvent& message = fresh_message(task);
    message.mutable_caught_up();
    append(out, FrameKind::caught_up, message, number);
  }
  void position(std::string& out, std::string_view task, std::uint64_t number) const override {
    v1::AgentEvent& message = fresh_message(task);
    message.mutable_position();
    append(out, FrameKind::position, message, number);
  }
  void delta(std::string&, std::string_view, std::string_view) const override {}
  void complete(std::string& out, std::string_view task, std::string_view data, std::uint64_t last) const override {
    v1::AgentEvent& message = fresh_message(task);
    message.mutable_complete()->set_status_json(data.data(), data.size());
    append(out, FrameKind::complete, message, last);
  }

 private:
  static void append(std::string& out, FrameKind kind, v1::AgentEvent& message, std::uint64_t position) {
    message.mutable_cursor()->clear();
    append_cursor(*message.mutable_cursor(), position);
    append_frame(out, kind, message);
  }
};

static_assert(static_cast<int>(EventType::session_start) == v1::EVENT_TYPE_SESSION_START);
static_assert(static_cast<int>(EventType::eviction) == v1::EVENT_TYPE_EVICTION);
static_assert(kEventTypes == v1::EventType_ARRAYSIZE, "the protocol's enum has this version's types in their order");

}  // namespace

const FrameEncoder& rpc_task_frames() {
  static const TaskFrames frames;
  return frames;
}

const FrameEncoder& rpc_all_frames() {
  static const AllFrames frames;
  return frames;
}

std::optional<Frame> frame_at(std::string_view bytes, std::size_t offset) {
  if (offset == bytes.size()) return std::nullopt;
  SHEPHERD_ASSERT(offset + kHeadBytes <= bytes.size(), "frames are whole");
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + offset + 1, sizeof size);
  Frame frame{static_cast<FrameKind>(bytes[offset]), offset + kHeadBytes, offset + kHeadBytes + size};
  SHEPHERD_ASSERT(frame.end <= bytes.size(), "frames are whole");
  return frame;
}

}  // namespace shepherd
