#include "api/frames.h"

#include "journal/cursor.h"
#include "json/write.h"
#include "model/wire_json.h"
#include "net/websocket_frame.h"

namespace shepherd {
namespace {

// Frames are built in large numbers, so the scratch text keeps its memory.
std::string& scratch() {
  thread_local std::string text;
  text.clear();
  return text;
}

void append_text_frame(std::string& out, std::string_view head, std::string_view data) {
  net::append_frame_header(out, net::Opcode::text, head.size() + data.size() + 1);
  out += head;
  out += data;
  out += '}';
}

// `{"type":"gap","taskID":"t",`
void append_head(std::string& out, std::string_view type, std::string_view task) {
  out += R"({"type":")";
  out += type;
  out += '"';
  if (!task.empty()) {
    out += R"(,"taskID":)";
    append_json_string(out, task);
  }
  out += ',';
}

void append_cursor_member(std::string& out, std::uint64_t position) {
  out += R"("cursor":")";
  append_cursor(out, position);
  out += '"';
}

std::string sequence_data(std::uint64_t number) {
  std::string data = R"({"sequence":)";
  append_number(data, number);
  data += '}';
  return data;
}

std::string cursor_data(std::uint64_t position) {
  std::string data = "{";
  append_cursor_member(data, position);
  data += '}';
  return data;
}

std::string cursor_gap_data(std::uint64_t from, std::uint64_t to) {
  return R"({"from":")" + encode_cursor(from) + R"(","to":")" + encode_cursor(to) + R"("})";
}

class WebSocketTaskFrames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventBatch& batch, std::size_t i) const override {
    std::string& head = scratch();
    append_task_event_open(head, batch.task);
    append_text_frame(out, head, batch.event(i));
  }
  void gap(std::string& out, std::string_view task, std::uint64_t from, std::uint64_t to) const override {
    append_websocket_message(out, "gap", task, gap_data(from, to));
  }
  void caught_up(std::string& out, std::string_view task, std::uint64_t number) const override {
    append_websocket_message(out, "caught_up", task, sequence_data(number));
  }
  void position(std::string& out, std::string_view task, std::uint64_t number) const override {
    append_websocket_message(out, "position", task, sequence_data(number));
  }
  void delta(std::string& out, std::string_view task, std::string_view data) const override {
    append_websocket_message(out, "delta", task, data);
  }
  void complete(std::string& out, std::string_view task, std::string_view data, std::uint64_t) const override {
    append_websocket_message(out, "task_complete", task, data);
  }
};

class WebSocketAllFrames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventBatch& batch, std::size_t i) const override {
    message(out, "task_event", batch.task, batch.position + i, batch.event(i));
  }
  void gap(std::string& out, std::string_view task, std::uint64_t from, std::uint64_t to) const override {
    message(out, "gap", task, to, cursor_gap_data(from, to));
  }
  void caught_up(std::string& out, std::string_view task, std::uint64_t number) const override {
    message(out, "caught_up", task, number, cursor_data(number));
  }
  void position(std::string& out, std::string_view task, std::uint64_t number) const override {
    message(out, "position", task, number, cursor_data(number));
  }
  void delta(std::string& out, std::string_view task, std::string_view data) const override {
    append_websocket_message(out, "delta", task, data);
  }
  void complete(std::string& out, std::string_view task, std::string_view data, std::uint64_t last) const override {
    message(out, "task_complete", task, last, data);
  }

 private:
  static void message(std::string& out, std::string_view type, std::string_view task, std::uint64_t number,
                      std::string_view data) {
    std::string& head = scratch();
    append_head(head, type, task);
    append_cursor_member(head, number);
    head += R"(,"data":)";
    append_text_frame(out, head, data);
  }
};

void append_sse(std::string& out, std::string_view type, std::string_view data) {
  out += "event: ";
  out += type;
  out += "\ndata: ";
  out += data;
}

class SseTaskFrames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventBatch& batch, std::size_t i) const override {
    message(out, "task_event", batch.event(i), batch.first + i);
  }
  void gap(std::string& out, std::string_view, std::uint64_t from, std::uint64_t to) const override {
    message(out, "gap", gap_data(from, to), to);
  }
  void caught_up(std::string& out, std::string_view, std::uint64_t number) const override {
    message(out, "caught_up", sequence_data(number), number);
  }
  void position(std::string& out, std::string_view, std::uint64_t number) const override {
    message(out, "position", sequence_data(number), number);
  }
  void delta(std::string& out, std::string_view, std::string_view data) const override {
    append_sse(out, "delta", data);
    out += "\n\n";
  }
  void complete(std::string& out, std::string_view, std::string_view data, std::uint64_t last) const override {
    append_sse(out, "task_complete", data);
    out += "\nid: ";
    append_number(out, last);
    out += ".end\n\n";
  }

 private:
  static void message(std::string& out, std::string_view type, std::string_view data, std::uint64_t number) {
    append_sse(out, type, data);
    out += "\nid: ";
    append_number(out, number);
    out += "\n\n";
  }
};

class SseAllFrames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventBatch& batch, std::size_t i) const override {
    with_task(out, "task_event", batch.task, batch.event(i));
    end(out, batch.position + i);
  }
  void gap(std::string& out, std::string_view task, std::uint64_t from, std::uint64_t to) const override {
    with_task(out, "gap", task, cursor_gap_data(from, to));
    end(out, to);
  }
  void caught_up(std::string& out, std::string_view task, std::uint64_t number) const override {
    with_task(out, "caught_up", task, cursor_data(number));
    end(out, number);
  }
  void position(std::string& out, std::string_view task, std::uint64_t number) const override {
    with_task(out, "position", task, cursor_data(number));
    end(out, number);
  }
  void delta(std::string& out, std::string_view task, std::string_view data) const override {
    with_task(out, "delta", task, data);
    out += "\n\n";
  }
  void complete(std::string& out, std::string_view, std::string_view data, std::uint64_t last) const override {
    append_sse(out, "task_complete", data);  // its data names the task
    end(out, last);
  }

 private:
  static void with_task(std::string& out, std::string_view type, std::string_view task, std::string_view data) {
    if (task.empty()) return append_sse(out, type, data);
    append_sse(out, type, R"({"taskID":)");
    append_json_string(out, task);
    std::string_view members = data.substr(1);  // after the brace
    if (members != "}") out += ',';
    out += members;
  }
  static void end(std::string& out, std::uint64_t number) {
    out += "\nid: ";
    append_cursor(out, number);
    out += "\n\n";
  }
};

}  // namespace

const FrameEncoder& websocket_task_frames() {
  static const WebSocketTaskFrames encoder;
  return encoder;
}

const FrameEncoder& websocket_all_frames() {
  static const WebSocketAllFrames encoder;
  return encoder;
}

const FrameEncoder& sse_task_frames() {
  static const SseTaskFrames encoder;
  return encoder;
}

const FrameEncoder& sse_all_frames() {
  static const SseAllFrames encoder;
  return encoder;
}

void append_websocket_message(std::string& out, std::string_view type, std::string_view task, std::string_view data) {
  std::string& head = scratch();
  append_head(head, type, task);
  head += R"("data":)";
  append_text_frame(out, head, data);
}

std::string sse_start(std::string_view id) {
  return "id: " + std::string(id) + "\n\n";
}

}  // namespace shepherd
