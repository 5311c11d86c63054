#include "hub/framed_log.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/limits.h"
#include "hub/limits.h"

namespace shepherd {
void Segment::append(std::string_view more) {
  SHEPHERD_ASSERT(fits(more.size()), "a segment never moves: spans of its bytes are on their way");
  std::memcpy(bytes_.get() + size_, more.data(), more.size());
  size_ += more.size();
}

void FramedLog::restart(std::uint64_t number) {
  first_segment_ += segments_.size();
  segments_.clear();
  entries_.clear();
  bytes_ = 0;
  first_ = number;
}

void FramedLog::add(const EventBatch& batch, std::size_t i, std::string_view complete) {
  SHEPHERD_ASSERT((all_ ? batch.position : batch.first) + i == next(), "frames follow each other without a hole");
  scratch_.clear();
  encoder_->event(scratch_, batch, i);
  auto event_bytes = static_cast<std::uint32_t>(scratch_.size());
  if (!complete.empty())
    encoder_->complete(scratch_, batch.task, complete, all_ ? batch.position + i : batch.first + i);

  if (segments_.empty() || !segments_.back()->fits(scratch_.size())) {
    std::size_t grown = segments_.empty() ? kFirstSegmentBytes : segments_.back()->capacity() * 2;
    std::size_t capacity = std::max(std::min(grown, kSegmentBytes), scratch_.size());
    segments_.push_back(std::make_shared<Segment>(capacity));
    bytes_ += capacity;
  }
  Segment& last = *segments_.back();
  auto begin = static_cast<std::uint32_t>(last.size());
  last.append(scratch_);
  entries_.push_back(
      {first_segment_ + segments_.size() - 1, begin, static_cast<std::uint32_t>(last.size()), begin + event_bytes});
}

void FramedLog::drop_before(std::uint64_t number) {
  while (!entries_.empty() && first_ < number) {
    std::uint64_t segment_number = entries_.front().segment;
    // Segments are dropped whole, so entries of the oldest one stay until all of it is old.
    auto last_in_segment =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.segment != segment_number; });
    auto count = static_cast<std::uint64_t>(last_in_segment - entries_.begin());
    if (first_ + count > number) return;
    entries_.erase(entries_.begin(), last_in_segment);
    first_ += count;
    bytes_ -= segments_.front()->capacity();
    segments_.pop_front();
    ++first_segment_;
  }
}

std::uint64_t FramedLog::all_from(std::uint64_t number, std::size_t max_bytes, std::vector<ByteSpan>& out) const {
  SHEPHERD_ASSERT(number >= first_ && number < next(), "a framed number is asked for");
  const Entry* at = &entry(number);
  std::uint64_t segment_number = at->segment;
  std::size_t begin = at->begin;
  std::size_t taken = 0;
  for (; segment_number < first_segment_ + segments_.size() && taken < max_bytes; ++segment_number, begin = 0) {
    const auto& piece = segment(segment_number);
    out.push_back({piece, std::string_view(piece->data() + begin, piece->size() - begin)});
    taken += piece->size() - begin;
  }
  if (segment_number == first_segment_ + segments_.size()) return next();
  auto first_beyond = std::partition_point(entries_.begin() + static_cast<std::ptrdiff_t>(number - first_),
                                           entries_.end(), [&](const Entry& e) { return e.segment < segment_number; });
  return first_ + static_cast<std::uint64_t>(first_beyond - entries_.begin());
}

void FramedLog::one(std::uint64_t number, bool wanted, std::vector<ByteSpan>& out) const {
  SHEPHERD_ASSERT(number >= first_ && number < next(), "a framed number is asked for");
  const Entry& e = entry(number);
  std::uint32_t begin = wanted ? e.begin : e.event_end;
  if (begin == e.end) return;
  const auto& piece = segment(e.segment);
  const char* from = piece->data() + begin;
  if (!out.empty() && out.back().bytes.data() + out.back().bytes.size() == from) {
    out.back().bytes = {out.back().bytes.data(), out.back().bytes.size() + (e.end - begin)};
  } else {
    out.push_back({piece, std::string_view(from, e.end - begin)});
  }
}

}  // namespace shepherd
