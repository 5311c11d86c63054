#include "store/run_codec.h"

namespace shepherd {

namespace {

constexpr char kVersion = 1;
constexpr char kByServer = 1;
constexpr std::size_t kHeaderBytes = 2;

void append_varint(std::string& out, std::uint32_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Reads (length, type) pairs; stops early on a malformed index.
class IndexReader {
 public:
  explicit IndexReader(std::string_view index) : index_(index), at_(kHeaderBytes) {}

  bool next(std::uint32_t& length, EventType& type) {
    if (at_ == index_.size()) return false;
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == index_.size() || shift > 28) return malformed();
      auto byte = static_cast<unsigned char>(index_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (at_ == index_.size() || value > UINT32_MAX) return malformed();
    auto known = static_cast<unsigned char>(index_[at_++]);
    length = static_cast<std::uint32_t>(value);
    // A type of a newer version reads as `other`; its name is in the JSON.
    type = known < kEventTypes ? static_cast<EventType>(known) : EventType::other;
    return true;
  }
  bool sound() const { return sound_; }

 private:
  bool malformed() {
    sound_ = false;
    return false;
  }
  std::string_view index_;
  std::size_t at_;
  bool sound_ = true;
};

std::unexpected<Error> corrupt(const char* what) {
  return fail(ErrorCode::internal, "corrupt",
              std::string("A stored run is damaged (") + what + "). Run `shepherd doctor`.");
}

Result<void> check_header(std::string_view index) {
  if (index.size() < kHeaderBytes) return corrupt("no index");
  if (index[0] != kVersion) return corrupt("unknown index version");
  return {};
}

}  // namespace

void encode_index(std::string& out, const StoredRun& stored) {
  const EventRun& run = *stored.run;
  out += kVersion;
  out += static_cast<char>(run.by_server ? kByServer : 0);
  for (std::size_t i = 0; i < run.size(); ++i) {
    append_varint(out, static_cast<std::uint32_t>(run.event(i).size()));
    out += static_cast<char>(run.types[i]);
  }
}

void encode_events(std::string& out, const EventRun& run) {
  out.reserve(out.size() + run.bytes.size() + run.size() + 1);
  char separator = '[';
  for (std::size_t i = 0; i < run.size(); ++i) {
    out += separator;
    out += run.event(i);
    separator = ',';
  }
  out += ']';
}

TypeMask mask_of(const EventRun& run) {
  TypeMask mask = 0;
  for (EventType type : run.types) mask |= mask_of(type);
  return mask;
}

Result<void> decode_run(std::string_view index, std::string_view events, EventRun& run) {
  if (auto header = check_header(index); !header) return header;
  run.by_server = (index[1] & kByServer) != 0;
  run.bytes.clear();
  run.ends.clear();
  run.types.clear();
  run.bytes.reserve(events.size());
  std::size_t at = 0;
  std::uint32_t length = 0;
  EventType type = EventType::other;
  IndexReader reader(index);
  while (reader.next(length, type)) {
    // One separator, the event, and at least the closing bracket.
    if (events.size() - at < std::size_t{length} + 2) return corrupt("events shorter than the index says");
    run.bytes.append(events.substr(at + 1, length));
    run.ends.push_back(static_cast<std::uint32_t>(run.bytes.size()));
    run.types.push_back(type);
    at += std::size_t{length} + 1;
  }
  if (!reader.sound() || run.ends.empty()) return corrupt("malformed index");
  if (at + 1 != events.size() || events.front() != '[' || events.back() != ']') return corrupt("events do not end");
  return {};
}

Result<IndexSummary> read_index(std::string_view index) {
  if (auto header = check_header(index); !header) return fail(std::move(header.error()));
  IndexSummary summary;
  std::uint32_t length = 0;
  EventType type = EventType::other;
  IndexReader reader(index);
  while (reader.next(length, type)) {
    ++summary.events;
    summary.bytes += length;
  }
  if (!reader.sound()) return corrupt("malformed index");
  return summary;
}

}  // namespace shepherd
