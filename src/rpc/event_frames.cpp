#include "rpc/event_frames.h"

#include <simdjson.h>

#include <cstring>

#include "base/assert.h"
#include "base/clock.h"
#include "journal/cursor.h"
#include "rpc/proto_time.h"
#include "shepherd/observability/v1/observability.pb.h"

namespace shepherd {
namespace {

namespace v1 = shepherd::observability::v1;
namespace ondemand = simdjson::ondemand;

constexpr std::size_t kHeadBytes = 1 + sizeof(std::uint32_t);

void append_frame(std::string& out, FrameKind kind, const v1::AgentEvent& message) {
  auto size = static_cast<std::uint32_t>(message.ByteSizeLong());
  std::size_t at = out.size();
  out.resize(at + kHeadBytes + size);
  out[at] = static_cast<char>(kind);
  std::memcpy(&out[at + 1], &size, sizeof size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(&out[at + kHeadBytes]));
}

// Frames are built by the million: the message keeps its memory.
v1::AgentEvent& fresh_message(std::string_view task) {
  thread_local v1::AgentEvent message;
  message.Clear();
  message.set_agent_id(task.data(), task.size());
  return message;
}

void read_time(google::protobuf::Timestamp& into, std::string_view text) {
  if (auto ms = parse_timestamp(text)) set_time(into, *ms);
}

// The members that have fields of their own. The store wrote this JSON, so it is good; if it were not, the fields stay
// empty and event_json has it all.
void read_members(v1::AgentEvent& message, std::string_view json) {
  thread_local ondemand::parser parser;
  thread_local std::string padded;
  padded.assign(json);
  padded.append(simdjson::SIMDJSON_PADDING, '\0');
  ondemand::document document;
  ondemand::object object;
  if (parser.iterate(padded.data(), json.size(), padded.size()).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return;
  }
  for (auto member : object) {
    std::string_view key, text;
    if (member.error() != simdjson::SUCCESS || member.unescaped_key().get(key) != simdjson::SUCCESS) return;
    if (key != "timestamp" && key != "receivedAt" && key != "summary" && key != "sessionID") continue;
    if (member.value().get_string().get(text) != simdjson::SUCCESS) continue;
    if (key == "timestamp") {
      read_time(*message.mutable_timestamp(), text);
    } else if (key == "receivedAt") {
      read_time(*message.mutable_received_at(), text);
    } else if (key == "summary") {
      message.set_summary(text.data(), text.size());
    } else {
      message.set_session_id(text.data(), text.size());
    }
  }
}

v1::AgentEvent& event_message(const EventRun& run, std::size_t i) {
  v1::AgentEvent& message = fresh_message(run.task);
  std::string_view json = run.event(i);
  message.set_type(static_cast<v1::EventType>(run.types[i]));
  message.set_sequence(static_cast<std::int64_t>(run.first + i));
  message.set_event_json(json.data(), json.size());
  read_members(message, json);
  return message;
}

class TaskFrames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventRun& run, std::size_t i) const override {
    append_frame(out, FrameKind::event, event_message(run, i));
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
  void event(std::string& out, const EventRun& run, std::size_t i) const override {
    append(out, FrameKind::event, event_message(run, i), run.position + i);
  }
  // Positions mean nothing to a caller: what is missing lies before the next cursor.
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
