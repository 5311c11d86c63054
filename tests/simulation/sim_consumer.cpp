#include "sim_consumer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

#include "hub/test_frames.h"

namespace shepherd::simulation {
namespace {

const TextFrames kTaskEncoder(false);
const TextFrames kAllEncoder(true);

bool take(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

}  // namespace

const FrameEncoder& kTaskFrames = kTaskEncoder;
const FrameEncoder& kAllFrames = kAllEncoder;

std::uint64_t take_number(std::string_view& text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_EQ(error, std::errc());
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return value;
}

void SimConsumer::connect(Replica& replica) {
  FeedOptions options = options_;
  options.after = cursor_;
  options.executor = &replica.io;
  broken_ = false;
  ready_ = true;
  feed_ = replica.journal.open_feed(std::move(options), *this);
}

void SimConsumer::next() {
  ready_ = false;
  feed_->next();
}

void SimConsumer::on_frames(FrameBatch&& batch) {
  for (const auto& span : batch.spans) {
    std::string_view rest = span.bytes;
    while (!rest.empty()) {
      auto end = rest.find(' ');
      take_frame(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
  }
  ended_ = batch.end;
  ready_ = !ended_;
}

void SimConsumer::take_frame(std::string_view text) {
  bool filtered = !options_.types.everything() || options_.tasks;
  if (take(text, "e")) {
    std::uint64_t number = take_number(text);
    if (filtered) {
      EXPECT_GT(number, cursor_) << name_ << ": repeat or disorder";
    } else {
      EXPECT_EQ(number, cursor_ + 1) << name_ << ": hole, repeat or disorder";
    }
    received_.push_back(number);
    cursor_ = number;
  } else if (take(text, "gap")) {
    std::uint64_t from = take_number(text);
    if (filtered) {
      EXPECT_GT(from, cursor_) << name_ << ": a gap lies ahead";
    } else {
      EXPECT_EQ(from, cursor_ + 1) << name_ << ": a gap begins where the consumer is";
    }
    cursor_ = take_number(text);
  } else if (take(text, "position") || take(text, "caught_up")) {
    std::uint64_t number = take_number(text);
    EXPECT_GE(number, cursor_) << name_;
    cursor_ = number;
  }
}

void SimConsumer::check_complete(const EventStore& store) const {
  Selection selection{options_.types, options_.tasks};
  bool all = options_.task.empty();
  auto page = all ? store.read_all(start_, kEverything) : store.read(options_.task, start_, kEverything);
  ASSERT_TRUE(page.has_value());
  std::vector<std::uint64_t> wanted;
  for (const auto& stored : page->batches) {
    for (std::size_t i = 0; i < stored->size(); ++i) {
      std::uint64_t number = (all ? stored->position : stored->first) + i;
      if (number > start_ && selection.takes_task(stored->task) && selection.takes_event(*stored, i))
        wanted.push_back(number);
    }
  }
  EXPECT_TRUE(std::includes(received_.begin(), received_.end(), wanted.begin(), wanted.end()))
      << name_ << " missed events: has " << received_.size() << " up to " << cursor_ << ", the store kept "
      << wanted.size() << " up to " << page->head;
}

}  // namespace shepherd::simulation
