#include "store/batch_codec.h"

#include "json/write.h"
#include "store/checksum.h"

namespace shepherd {

namespace {

constexpr char kPlainVersion = 1;  // no checksum
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
    // A type of a newer version is read as `other`; its name is in the JSON.
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

// Names the events that were readable so far, or only the first.
std::unexpected<Error> corrupt(const EventBatch& batch, const char* what) {
  std::string numbers = std::to_string(batch.first);
  std::uint64_t last = batch.ends.size() > 1 ? batch.last() : batch.first;
  if (last > batch.first) numbers += " to " + std::to_string(last);
  return fail(Error{ErrorCode::internal,
                    "corrupt",
                    "Events " + numbers + " of " + batch.task + " are damaged on disk (" + what +
                        "). The others can be read: go on after " + std::to_string(last) +
                        ". `shepherd doctor` lists all damage; restore a backup to get these events back.",
                    {}}
                  .with("firstSequence", static_cast<std::int64_t>(batch.first))
                  .with("lastSequence", static_cast<std::int64_t>(last)));
}

std::unexpected<Error> corrupt_index() {
  return fail(ErrorCode::internal, "corrupt", "The index of a stored batch is damaged. Run `shepherd doctor`.");
}

// The offset of the lengths; 0 if the version is unknown.
std::size_t header_bytes(std::string_view index) {
  if (index.size() < kPlainHeaderBytes) return 0;
  if (index[0] == kPlainVersion) return kPlainHeaderBytes;
  return index[0] == kVersion && index.size() >= kHeaderBytes ? kHeaderBytes : 0;
}

void append_number(std::string& out, std::uint64_t number, std::size_t bytes) {
  for (; bytes > 0; --bytes, number >>= 8) out += static_cast<char>(number & 0xFF);
}

std::uint32_t checksum_of(const EventBatch& batch, std::string_view index, std::string_view events) {
  std::string place;
  append_number(place, batch.first, 8);
  append_number(place, batch.position, 8);
  append_number(place, static_cast<std::uint64_t>(batch.received_ms), 8);
  std::uint32_t sum = checksum(place);
  sum = checksum(index.substr(0, kPlainHeaderBytes), sum);
  sum = checksum(index.substr(kHeaderBytes), sum);
  return checksum(events, sum);
}

bool is_intact(const EventBatch& batch, std::string_view index, std::string_view events) {
  if (index[0] == kPlainVersion) return true;
  std::string sum;
  append_number(sum, checksum_of(batch, index, events), kChecksumBytes);
  return index.substr(kPlainHeaderBytes, kChecksumBytes) == sum;
}

}  // namespace

void encode_batch(const EventBatch& batch, std::string& index, std::string& events) {
  events.clear();
  events.reserve(batch.bytes.size() + batch.size() + 1);
  char separator = '[';
  for (std::size_t i = 0; i < batch.size(); ++i) {
    events += separator;
    events += batch.event(i);
    separator = ',';
  }
  events += ']';

  index.clear();
  index += kVersion;
  index += static_cast<char>(batch.by_server ? kByServer : 0);
  index.append(kChecksumBytes, '\0');
  for (std::size_t i = 0; i < batch.size(); ++i) {
    append_varint(index, static_cast<std::uint32_t>(batch.event(i).size()));
    index += static_cast<char>(batch.types[i]);
  }
  std::string sum;
  append_number(sum, checksum_of(batch, index, events), kChecksumBytes);
  index.replace(kPlainHeaderBytes, kChecksumBytes, sum);
}

TypeMask mask_of(const EventBatch& batch) {
  TypeMask mask = 0;
  for (EventType type : batch.types) mask |= mask_of(type);
  return mask;
}

Result<void> decode_batch(std::string_view index, std::string_view events, EventBatch& batch) {
  batch.bytes.clear();
  batch.ends.clear();
  batch.types.clear();
  std::size_t header = header_bytes(index);
  if (header == 0) return corrupt(batch, "no index of a version that is known here");
  batch.by_server = (index[1] & kByServer) != 0;
  batch.bytes.reserve(events.size());
  std::size_t at = 0;
  std::uint32_t length = 0;
  EventType type = EventType::other;
  IndexReader reader(index, header);
  while (reader.next(length, type)) {
    // A separator, the event, and at least the closing bracket.
    if (events.size() - at < std::size_t{length} + 2) return corrupt(batch, "shorter than their index says");
    batch.bytes.append(events.substr(at + 1, length));
    batch.ends.push_back(static_cast<std::uint32_t>(batch.bytes.size()));
    batch.types.push_back(type);
    at += std::size_t{length} + 1;
  }
  if (!reader.sound() || batch.ends.empty()) return corrupt(batch, "malformed index");
  if (at + 1 != events.size() || events.front() != '[' || events.back() != ']') return corrupt(batch, "no end");
  if (!is_intact(batch, index, events)) return corrupt(batch, "another checksum");
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
