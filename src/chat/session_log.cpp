#include "chat/session_log.h"

#include <set>
#include <utility>

#include "base/log.h"
#include "chat/limits.h"
#include "chat/shown_call.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

std::size_t bytes_of(const ModelMessage& message) {
  std::size_t bytes = message.content.size() + message.reasoning.size() + message.reasoning_state.size();
  for (const ToolRequest& call : message.tool_calls) bytes += call.arguments.size();
  return bytes;
}

}  // namespace

std::string SessionLog::redacted(std::string_view text) const {
  if (parts_.redactor == nullptr || !parts_.redactor->may_match(text)) return std::string(text);
  return parts_.redactor->redact(text);
}

ChatEvent SessionLog::message(const ModelMessage& told, const MessageFacts& facts) const {
  if (parts_.redactor == nullptr) return message_event(told, facts);
  ModelMessage stored = told;
  stored.content = redacted(told.content);
  stored.reasoning = redacted(told.reasoning);
  bool changed = stored.content != told.content || stored.reasoning != told.reasoning;
  for (ToolRequest& call : stored.tool_calls) {
    ShownCall shown = shown_call(call, parts_.redactor);
    changed = changed || !shown.hidden.empty();
    call = std::move(shown.call);
  }
  ChatEvent event = message_event(stored, facts);
  if (changed) {
    // The conversation says which images are still shown.
    auto kept = std::make_shared<ModelMessage>(told);
    kept->images = nullptr;
    event.told = std::move(kept);
  }
  return event;
}

const ModelMessage& SessionLog::told(const ChatMessage& message) const {
  auto found = told_.find(message.sequence);
  return found == told_.end() ? message.message : *found->second;
}

void SessionLog::keep_told(std::uint64_t sequence, std::shared_ptr<const ModelMessage> message) {
  told_bytes_ += bytes_of(*message);
  told_.emplace(sequence, std::move(message));
  while (told_bytes_ > kMaxToldBytes) {
    told_bytes_ -= bytes_of(*told_.begin()->second);
    told_.erase(told_.begin());
  }
}

void SessionLog::forget_evicted() {
  std::set<std::uint64_t> left;
  for (const ChatMessage& each : conversation_.messages()) left.insert(each.sequence);
  std::erase_if(told_, [&](const auto& entry) {
    if (left.contains(entry.first)) return false;
    told_bytes_ -= bytes_of(*entry.second);
    return true;
  });
}

Result<DraftBatch> SessionLog::drafts(const std::vector<ChatEvent>& events) const {
  std::string json = "[";
  for (const ChatEvent& event : events) {
    if (json.size() > 1) json.push_back(',');
    json += event.json;
  }
  json.push_back(']');
  Intake intake;
  intake.redactor = parts_.redactor;
  intake.condense = parts_.condense;
  intake.now_ms = parts_.clock.wall_ms();
  intake.keep_detail = true;  // a long message is whole only there
  intake.allow_reserved = true;
  return decode_events(json, Framing::json, intake);
}

void SessionLog::append(std::vector<ChatEvent> events, std::move_only_function<void(Result<std::uint64_t>)> done) {
  auto made = drafts(events);
  if (!made) {
    parts_.loop.post([error = made.error(), done = std::move(done)]() mutable { done(fail(std::move(error))); });
    return;
  }
  AppendRequest request;
  request.task = task_;
  request.drafts = std::move(*made);
  request.received_ms = parts_.clock.wall_ms();
  parts_.journal.append(std::move(request), [self = shared_from_this(), events = std::move(events),
                                             done = std::move(done)](Result<Appended> appended) mutable {
    Executor& loop = self->parts_.loop;
    loop.post([self = std::move(self), events = std::move(events), done = std::move(done),
               appended = std::move(appended)]() mutable {
      if (!appended) return done(fail(appended.error()));
      std::uint64_t first = appended->last_sequence - appended->added + 1;
      bool keep = self->parts_.clock.steady_ms() < self->recent_until_ms_;
      for (std::size_t i = 0; i < events.size(); ++i) {
        self->conversation_.apply(first + i, events[i].type, events[i].json);
        if (!events[i].whole.empty()) self->conversation_.restore(first + i, events[i].whole);
        if (events[i].images) self->conversation_.show(first + i, std::move(events[i].images));
        if (events[i].told != nullptr) self->keep_told(first + i, std::move(events[i].told));
        if (events[i].type == EventType::eviction) self->forget_evicted();
        if (keep && self->recent_.size() < kMaxRecentEvents) {
          self->recent_.push_back({first + i, events[i].type, std::move(events[i].json)});
        }
      }
      self->keep_basis();
      done(first);
    });
  });
}

void SessionLog::start_from(Conversation conversation, SessionBasis kept) {
  conversation_ = std::move(conversation);
  kept_ = std::move(kept);
  keep_basis();
}

// After the events that it repeats: if the server dies between the two, the next load finds them in the log.
void SessionLog::keep_basis() {
  const SessionBasis& basis = conversation_.basis();
  if (!basis.started || basis == kept_) return;
  kept_ = basis;
  parts_.journal.write(
      [task = task_, basis](WriteTxn& txn) -> Result<void> {
        auto row = txn.row(task);
        if (!row) return {};  // it was deleted
        return txn.put_record(std::string(kBasisRecords), task, encode_basis(basis, row->created_ms));
      },
      [task = task_](const Result<void>& kept) {
        if (!kept) log_warn("chat {}: cannot keep its record: {}", task, kept.error().message);
      });
}

void SessionLog::begin_recent() {
  recent_.clear();
  recent_until_ms_ = parts_.clock.steady_ms() + kTurnReplay.count();
}

void SessionLog::append(std::vector<ChatEvent> events) {
  append(std::move(events), [task = task_](Result<std::uint64_t> appended) {
    if (!appended) log_warn("chat {}: cannot write to the log: {}", task, appended.error().message);
  });
}

void SessionLog::live(std::string_view block, std::string_view kind, std::string_view text) {
  if (block != live_block_) {
    live_block_ = block;
    live_pieces_ = 0;
  }
  while (!text.empty()) {
    std::size_t most = text.size();
    if (most > kDeltaBytes) {
      most = kDeltaBytes;
      while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    }
    ++live_pieces_;
    parts_.journal.publish_delta(task_, object_text([&](JsonObject& data) {
                                   data.text("block", block);
                                   data.number("piece", live_pieces_);
                                   data.text("text", text.substr(0, most));
                                   if (kind != "text") data.text("kind", kind);
                                 }));
    text.remove_prefix(most);
  }
}

}  // namespace shepherd
