#include "chat/session_log.h"

#include <utility>

#include "base/log.h"
#include "chat/limits.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {

std::string SessionLog::redacted(std::string_view text) const {
  if (parts_.redactor == nullptr || !parts_.redactor->may_match(text)) return std::string(text);
  return parts_.redactor->redact(text);
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
