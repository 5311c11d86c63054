// Reads a spool file of any bytes, and one of whole records with one damaged byte. The reader finds the same records as
// read_record. It reads everything before the damage and nothing that was not written.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "given.h"
#include "outbox/spool_reader.h"
#include "outbox/spool_record.h"

namespace {

using namespace shepherd;

struct Kept {
  SpoolKind kind;
  std::uint64_t number;
  std::string text;
  bool operator==(const Kept&) const = default;
};

// One file for all inputs, because creating a file takes longer than the test itself.
int file_of(std::string_view bytes) {
  static const int kFile = ::memfd_create("spool", MFD_CLOEXEC);
  SHEPHERD_ASSERT(kFile >= 0 && ::ftruncate(kFile, 0) == 0, "there is a file");
  SHEPHERD_ASSERT(::pwrite(kFile, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()), "it is whole");
  return kFile;
}

// Tells the reader of `beyond` more bytes than the file has, as if it had been truncated meanwhile.
std::vector<Kept> read(std::string_view bytes, std::size_t beyond) {
  std::vector<Kept> records;
  SpoolReader reader(file_of(bytes), 0, static_cast<off_t>(bytes.size() + beyond));
  std::string written;
  while (auto record = reader.next()) {
    records.push_back({record->kind, record->number, std::string(record->text)});
    append_record(written, *record);
    SHEPHERD_ASSERT(written == bytes.substr(0, written.size()), "a record that is written again is the same bytes");
    SHEPHERD_ASSERT(reader.offset() == static_cast<off_t>(written.size()), "the next one begins behind it");
  }
  std::string_view rest = bytes.substr(written.size());
  SHEPHERD_ASSERT(!read_record(rest), "the reader stops where no whole record follows");
  return records;
}

// Parses the bytes independently: kind, number, and that much text.
std::vector<Kept> records_of(std::string_view bytes) {
  constexpr std::string_view kKinds = "IERD";
  std::vector<Kept> records;
  while (bytes.size() >= 3) {
    std::size_t text = std::min<std::size_t>(static_cast<unsigned char>(bytes[2]), bytes.size() - 3);
    records.push_back({static_cast<SpoolKind>(kKinds[static_cast<unsigned char>(bytes[0]) % kKinds.size()]),
                       static_cast<unsigned char>(bytes[1]) * 0x0101010101010101ULL,
                       std::string(bytes.substr(3, text))});
    bytes.remove_prefix(3 + text);
  }
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  std::size_t beyond = input.choice % 4 == 0 ? 1'000 : 0;
  read(input.bytes, beyond);

  auto made = records_of(input.bytes);
  std::string file;
  std::vector<std::size_t> ends;
  for (const auto& record : made) {
    append_record(file, {record.kind, record.number, record.text});
    ends.push_back(file.size());
  }
  SHEPHERD_ASSERT(read(file, beyond) == made, "what was written is read");
  if (file.empty()) return 0;
  std::size_t at = (std::size_t{input.choice} * 257 + (input.cuts.empty() ? 0 : input.cuts[0])) % file.size();
  file[at] = static_cast<char>(file[at] ^ (1 + input.choice % 255));
  auto found = read(file, beyond);
  std::size_t whole = 0;
  while (whole < ends.size() && ends[whole] <= at) ++whole;
  SHEPHERD_ASSERT(found.size() == whole, "everything before the damage is read, and nothing else");
  made.resize(whole);
  SHEPHERD_ASSERT(found == made, "as it was written");
  return 0;
}
