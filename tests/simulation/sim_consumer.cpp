#include "sim_consumer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

namespace shepherd::simulation {
namespace {

class LineEncoder final : public FrameEncoder {
 public:
  explicit LineEncoder(bool all) : all_(all) {}
  void event(std::string& out, const EventBatch& stored, std::size_t i) const override {
    out += "E " + std::to_string(all_ ? stored.position + i : stored.first + i) + "\n";
  }
  void gap(std::string& out, std::string_view, std::uint64_t from, std::uint64_t to) const override {
    out += "G " + std::to_string(from) + " " + std::to_string(to) + "\n";
  }
  void caught_up(std::string& out, std::string_view, std::uint64_t number) const override {
    out += "U " + std::to_string(number) + "\n";
  }
  void position(std::string& out, std::string_view, std::uint64_t number) const override {
    out += "P " + std::to_string(number) + "\n";
  }
  void delta(std::string& out, std::string_view, std::string_view) const override { out += "D 0\n"; }
  void complete(std::string& out, std::string_view, std::string_view, std::uint64_t last) const override {
    out += "C " + std::to_string(last) + "\n";
  }

 private:
  bool all_;
};

const LineEncoder kTaskEncoder(false);
const LineEncoder kAllEncoder(true);

}  // namespace

const FrameEncoder& kTaskLines = kTaskEncoder;
const FrameEncoder& kAllLines = kAllEncoder;

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
      auto line_end = rest.find('\n');
      frame(rest.substr(0, line_end));
      rest.remove_prefix(line_end + 1);
    }
  }
  ended_ = batch.end;
  ready_ = !ended_;
}

void SimConsumer::frame(std::string_view line) {
  char kind = line[0];
  line.remove_prefix(2);
  std::uint64_t number = take_number(line);
  bool filtered = !options_.types.everything() || options_.tasks;
  switch (kind) {
    case 'E':
      if (filtered) {
        EXPECT_GT(number, cursor_) << name_ << ": repeat or disorder";
      } else {
        EXPECT_EQ(number, cursor_ + 1) << name_ << ": hole, repeat or disorder";
      }
      received_.push_back(number);
      cursor_ = number;
      break;
    case 'G': {
      if (filtered) {
        EXPECT_GT(number, cursor_) << name_ << ": a gap lies ahead";
      } else {
        EXPECT_EQ(number, cursor_ + 1) << name_ << ": a gap begins where the consumer is";
      }
      cursor_ = take_number(line);
      break;
    }
    case 'P':
    case 'U':
      EXPECT_GE(number, cursor_) << name_;
      cursor_ = number;
      break;
    default:
      break;
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
