// The newest events of one log as one transport's bytes: contiguous pieces ("segments") with an index by number. A
// consumer without a filter is an offset into the bytes; a filtered one collects its events through the index.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "hub/frame_encoder.h"
#include "hub/selection.h"

namespace shepherd {

// A fixed buffer that only grows at its end. Bytes that were handed out never move or change, so they can be sent
// without a lock while new ones are appended.
class Segment {
 public:
  explicit Segment(std::size_t capacity) : bytes_(new char[capacity]), capacity_(capacity) {}
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  const char* data() const { return bytes_.get(); }
  bool fits(std::size_t more) const { return size_ + more <= capacity_; }
  void append(std::string_view more);

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

// Threads: caller (the tail's lock), but returned spans may be read without it.
class FramedLog {
 public:
  // `all` means that numbers are positions and a task's end is framed after the event that ends it.
  FramedLog(const FrameEncoder& encoder, bool all) : encoder_(&encoder), all_(all) {}

  const FrameEncoder& encoder() const { return *encoder_; }
  std::uint64_t first() const { return first_; }                   // oldest framed number
  std::uint64_t next() const { return first_ + entries_.size(); }  // first number not framed yet
  bool empty() const { return entries_.empty(); }
  std::size_t bytes() const { return bytes_; }

  // Starts over with `number` as the next number to frame.
  void restart(std::uint64_t number);
  // Frames event i of the batch, which must have number next(). `complete` is the data of the task's end if it ends
  // here.
  void add(const EventBatch& batch, std::size_t i, std::string_view complete);
  // Drops whole segments before `number`.
  void drop_before(std::uint64_t number);

  // All bytes from `number` on, at most about max_bytes. Returns the number after the last one included.
  std::uint64_t all_from(std::uint64_t number, std::size_t max_bytes, std::vector<ByteSpan>& out) const;
  // The bytes of one number. If `wanted` is false, only the task's end, if it ends there.
  void one(std::uint64_t number, bool wanted, std::vector<ByteSpan>& out) const;

 private:
  struct Entry {
    std::uint64_t segment;     // counted from the first segment ever created
    std::uint32_t begin, end;  // offsets in that segment
    std::uint32_t event_end;   // end of the event's own frame; the rest is the task's end
  };
  const Entry& entry(std::uint64_t number) const { return entries_[number - first_]; }
  const std::shared_ptr<Segment>& segment(std::uint64_t n) const { return segments_[n - first_segment_]; }

  const FrameEncoder* encoder_;
  bool all_;
  std::uint64_t first_ = 1;
  std::uint64_t first_segment_ = 0;
  std::deque<Entry> entries_;
  std::deque<std::shared_ptr<Segment>> segments_;
  std::size_t bytes_ = 0;
  std::string scratch_;
};

}  // namespace shepherd
