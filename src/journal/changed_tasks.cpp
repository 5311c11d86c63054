#include "journal/changed_tasks.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "hub/task_names.h"

namespace shepherd {

TypeFilter steering_types() {
  TypeFilter types;
  types.known = mask_of(EventType::command) | mask_of(EventType::command_result) | mask_of(EventType::approval) |
                mask_of(EventType::status);
  return types;
}

ChangedTasks::ChangedTasks(Journal& journal, std::string reader, TypeFilter types, OnNames on_names)
    : journal_(journal), reader_(std::move(reader)), types_(std::move(types)), on_names_(std::move(on_names)) {}

void ChangedTasks::open(Executor& executor, std::uint64_t after) {
  SHEPHERD_ASSERT(feed_ == nullptr, "it is opened once");
  executor_ = &executor;
  done_through_ = after;
  begin();
}

void ChangedTasks::close() {
  feed_.reset();
}

void ChangedTasks::begin() {
  FeedOptions options;
  options.after = done_through_;
  options.types = types_;
  options.encoder = &task_names_encoder();
  options.executor = executor_;
  broken_ = false;
  asked_ = false;
  feed_ = journal_.open_feed(std::move(options), *this);
  pump();
}

void ChangedTasks::pump() {
  if (pumping_) return;
  pumping_ = true;
  while (feed_ != nullptr && !asked_) {
    asked_ = true;
    feed_->next();
  }
  pumping_ = false;
}

void ChangedTasks::on_frames(FrameBatch&& batch) {
  std::set<std::string> tasks;
  for (const ByteSpan& span : batch.spans) {
    for (std::string_view task : task_names(span.bytes)) tasks.emplace(task);
  }
  on_names_(std::move(tasks), batch.number);
}

void ChangedTasks::done(std::uint64_t through) {
  done_through_ = std::max(done_through_, through);
  asked_ = false;
  pump();
}

void ChangedTasks::on_feed_error(const Error& error) {
  log_warn("{} cannot read the logs now: {}", reader_, error.message);
  broken_ = true;
}

void ChangedTasks::tick(std::int64_t steady_ms) {
  if (feed_ == nullptr) return;
  feed_->tick(steady_ms);
  if (!broken_) return;
  feed_.reset();
  begin();
}

}  // namespace shepherd
