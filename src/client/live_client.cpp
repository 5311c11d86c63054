#include "client/live_client.h"

#include <fmt/format.h>

#include <utility>

#include "client/api_client.h"
#include "client/limits.h"
#include "client/live_message.h"

namespace shepherd {

LiveClient::LiveClient(Locate locate, LiveOptions options, const Clock& clock, Random& random, net::ClientTls tls)
    : options_(std::move(options)),
      link_(std::move(locate), clock, random, std::move(tls)),
      cursor_(!options_.types.empty()),
      position_(options_.cursor) {
  if (options_.after) {
    cursor_.start_after(*options_.after);
  } else if (options_.tail == 0) {
    cursor_.start_after(0);
  }
}

Result<bool> LiveClient::run(LiveObserver& listener) {
  listener_ = &listener;
  return link_.run(*this);
}

void LiveClient::on_link_open(std::int64_t down_ms) {
  listener_->on_state({LiveState::connected, "", down_ms});
}

void LiveClient::on_link_lost(const std::string& why) {
  listener_->on_state({LiveState::disconnected, why, 0});
}

std::string LiveClient::link_target() {
  Parameters query;
  if (options_.task.empty()) {
    if (!position_.empty()) query.emplace_back("after", position_);
  } else if (cursor_.last()) {
    query.emplace_back("after", std::to_string(*cursor_.last()));
  } else {
    query.emplace_back("tail", std::to_string(options_.tail));
  }
  if (!options_.types.empty()) query.emplace_back("types", options_.types);
  std::string path = options_.task.empty() ? std::string("/api/v1/events")
                                           : fmt::format("/api/v1/tasks/{}/events", percent_encoded(options_.task));
  return path + query_text(query);
}

Result<LinkStep> LiveClient::on_link_message(std::string_view message) {
  std::string_view type = word_member(message, "type");
  if (type == "task_event") return take_event(message);

  std::string_view task = word_member(message, "taskID");
  std::string_view data = find_member(message, "data");
  if (task.empty()) task = word_member(data, "taskID");
  note_position(message, data);
  if (type == "gap") {
    std::uint64_t from = number_member(data, "from");
    std::uint64_t to = number_member(data, "to");
    LogCursor::Step step = options_.task.empty() ? LogCursor::Step::take : cursor_.gap(from, to);
    if (step == LogCursor::Step::take) listener_->on_gap(task, from, to);
    return judge(step);
  }
  if (type == "position" || type == "caught_up") {
    LinkStep outcome = LinkStep::go_on;
    if (!options_.task.empty()) {
      Result<LinkStep> judged = judge(cursor_.reached(number_member(data, "sequence")));
      if (!judged) return judged;
      outcome = *judged;
    }
    if (type == "caught_up" && outcome == LinkStep::go_on) listener_->on_state({LiveState::live, "", 0});
    return outcome;
  }
  if (type == "task_complete") {
    listener_->on_complete(task, data);
    return options_.task.empty() ? LinkStep::go_on : LinkStep::complete;
  }
  if (type == "task_update") listener_->on_row(task, data);
  if (type == "task_deleted") listener_->on_deleted(task);
  return LinkStep::go_on;  // deltas, and messages of newer servers
}

Result<LinkStep> LiveClient::take_event(std::string_view message) {
  std::string_view task = word_member(message, "taskID");
  std::string_view event = find_member(message, "data");
  std::uint64_t sequence = number_member(event, "sequence");
  if (sequence == 0) {
    return fail(ErrorCode::internal, "bad_response", "the server sent an event without a number; is it a Shepherd?");
  }
  LogCursor::Step step = options_.task.empty() ? cursor_of(task).event(sequence) : cursor_.event(sequence);
  if (step != LogCursor::Step::take) return judge(step);
  note_position(message, {});
  holes_ = 0;
  return listener_->on_event(task, sequence, event) ? LinkStep::go_on : LinkStep::stopped;
}

Result<LinkStep> LiveClient::judge(LogCursor::Step step) {
  if (step != LogCursor::Step::hole) return LinkStep::go_on;
  if (++holes_ > kMaxLiveHoles) {
    return fail(ErrorCode::internal, "broken_sequence",
                fmt::format("the server keeps leaving out events after {}; its log may be damaged: run \"shepherd "
                            "doctor\" on its machine",
                            cursor_.last().value_or(0)));
  }
  link_.set_why("events were missing");
  return LinkStep::reconnect;
}

LogCursor& LiveClient::cursor_of(std::string_view task) {
  if (others_.size() >= kMaxLiveTasks) others_.clear();  // forgets what to check, not what to show
  return others_.try_emplace(std::string(task), LogCursor(!options_.types.empty())).first->second;
}

void LiveClient::note_position(std::string_view message, std::string_view data) {
  if (!options_.task.empty()) return;
  std::string_view cursor = word_member(message, "cursor");
  if (cursor.empty()) cursor = word_member(data, "cursor");
  if (!cursor.empty()) position_ = cursor;
}

}  // namespace shepherd
