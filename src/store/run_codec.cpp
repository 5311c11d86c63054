#include "store/run_codec.h"

#include "json/write.h"
#include "store/checksum.h"

namespace shepherd {

namespace {

constexpr char kPlainVersion = 1;  // without a checksum
constexpr char kVersion = 2;
constexpr char kByServer = 1;
constexpr std::size_t kPlainHeaderBytes = 2;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kHeaderBytes = kPlainHeaderBytes + kChecksumBytes;

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
  IndexReader(std::string_view index, std::size_t header_bytes) : index_(index), at_(header_bytes) {}

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

// The events that the index still lists, or the first alone.
std::unexpected<Error> corrupt(const EventRun& run, const char* what) {
  std::string numbers = std::to_string(run.first);
  std::uint64_t last = run.ends.size() > 1 ? run.last() : run.first;
  if (last > run.first) numbers += " to " + std::to_string(last);
  return fail(Error{ErrorCode::internal,
                    "corrupt",
                    "Events " + numbers + " of " + run.task + " are damaged on disk (" + what +
                        "). The others can be read: go on after " + std::to_string(last) +
                        ". `shepherd doctor` lists all damage; restore a backup to get these events back.",
                    {}}
                  .with("firstSequence", static_cast<std::int64_t>(run.first))
                  .with("lastSequence", static_cast<std::int64_t>(last)));
}

std::unexpected<Error> corrupt_index() {
  return fail(ErrorCode::internal, "corrupt", "The index of a stored run is damaged. Run `shepherd doctor`.");
}

// Where the lengths begin; 0: not a version that is known here.
std::size_t header_bytes(std::string_view index) {
  if (index.size() < kPlainHeaderBytes) return 0;
  if (index[0] == kPlainVersion) return kPlainHeaderBytes;
  return index[0] == kVersion && index.size() >= kHeaderBytes ? kHeaderBytes : 0;
}

void append_number(std::string& out, std::uint64_t number, std::size_t bytes) {
  for (; bytes > 0; --bytes, number >>= 8) out += static_cast<char>(number & 0xFF);
}

std::uint32_t checksum_of(const EventRun& run, std::string_view index, std::string_view events) {
  std::string place;
  append_number(place, run.first, 8);
  append_number(place, run.position, 8);
  append_number(place, static_cast<std::uint64_t>(run.received_ms), 8);
  std::uint32_t sum = checksum(place);
  sum = checksum(index.substr(0, kPlainHeaderBytes), sum);
  sum = checksum(index.substr(kHeaderBytes), sum);
  return checksum(events, sum);
}

bool is_intact(const EventRun& run, std::string_view index, std::string_view events) {
  if (index[0] == kPlainVersion) return true;
  std::string sum;
  append_number(sum, checksum_of(run, index, events), kChecksumBytes);
  return index.substr(kPlainHeaderBytes, kChecksumBytes) == sum;
}

}  // namespace

void encode_run(const EventRun& run, std::string& index, std::string& events) {
  events.clear();
  events.reserve(run.bytes.size() + run.size() + 1);
  char separator = '[';
  for (std::size_t i = 0; i < run.size(); ++i) {
    events += separator;
    events += run.event(i);
    separator = ',';
  }
  events += ']';

  index.clear();
  index += kVersion;
  index += static_cast<char>(run.by_server ? kByServer : 0);
  index.append(kChecksumBytes, '\0');
  for (std::size_t i = 0; i < run.size(); ++i) {
    append_varint(index, static_cast<std::uint32_t>(run.event(i).size()));
    index += static_cast<char>(run.types[i]);
  }
  std::string sum;
  append_number(sum, checksum_of(run, index, events), kChecksumBytes);
  index.replace(kPlainHeaderBytes, kChecksumBytes, sum);
}

TypeMask mask_of(const EventRun& run) {
  TypeMask mask = 0;
  for (EventType type : run.types) mask |= mask_of(type);
  return mask;
}

Result<void> decode_run(std::string_view index, std::string_view events, EventRun& run) {
  run.bytes.clear();
  run.ends.clear();
  run.types.clear();
  std::size_t header = header_bytes(index);
  if (header == 0) return corrupt(run, "no index of a version that is known here");
  run.by_server = (index[1] & kByServer) != 0;
  run.bytes.reserve(events.size());
  std::size_t at = 0;
  std::uint32_t length = 0;
  EventType type = EventType::other;
  IndexReader reader(index, header);
  while (reader.next(length, type)) {
    // One separator, the event, and at least the closing bracket.
    if (events.size() - at < std::size_t{length} + 2) return corrupt(run, "shorter than their index says");
    run.bytes.append(events.substr(at + 1, length));
    run.ends.push_back(static_cast<std::uint32_t>(run.bytes.size()));
    run.types.push_back(type);
    at += std::size_t{length} + 1;
  }
  if (!reader.sound() || run.ends.empty()) return corrupt(run, "malformed index");
  if (at + 1 != events.size() || events.front() != '[' || events.back() != ']') return corrupt(run, "no end");
  if (!is_intact(run, index, events)) return corrupt(run, "another checksum");
  return {};
}

Result<IndexSummary> read_index(std::string_view index) {
  std::size_t header = header_bytes(index);
  if (header == 0) return corrupt_index();
  IndexSummary summary;
  std::uint32_t length = 0;
  EventType type = EventType::other;
  IndexReader reader(index, header);
  while (reader.next(length, type)) {
    ++summary.events;
    summary.bytes += length;
  }
  if (!reader.sound()) return corrupt_index();
  return summary;
}

}  // namespace shepherd
