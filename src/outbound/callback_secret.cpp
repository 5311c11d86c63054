#include "outbound/callback_secret.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/base64.h"

namespace shepherd {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr mode_t kOwnerOnly = 0600;

std::unexpected<Error> file_error(const std::string& path, const std::string& what) {
  return fail(ErrorCode::unavailable, "callback_secret", "the callbacks' secret " + path + " " + what);
}

std::string make_secret(Random& random) {
  std::string bytes;
  while (bytes.size() < kSecretBytes) {
    std::uint64_t word = random.next();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return "whsec_" + encode_base64(bytes);
}

}  // namespace

Result<std::string> ensure_callback_secret(const std::string& path, Random& random) {
  int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (made >= 0) {
    std::string secret = make_secret(random);
    std::string line = secret + "\n";
    bool written = ::write(made, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && ::fsync(made) == 0;
    int why = errno;
    ::close(made);
    if (written) return secret;
    ::unlink(path.c_str());
    return file_error(path, std::string("cannot be written: ") + std::strerror(why));
  }
  if (errno != EEXIST) return file_error(path, std::string("cannot be made: ") + std::strerror(errno));
  int known = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (known < 0) return file_error(path, std::string("cannot be opened: ") + std::strerror(errno));
  std::array<char, 1024> text{};
  ssize_t got = ::read(known, text.data(), text.size());
  ::close(known);
  std::string_view line(text.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  line = line.substr(0, line.find_first_of("\r\n"));
  if (line.empty()) return file_error(path, "is empty; remove it, and the next start makes a new one");
  return std::string(line);
}

}  // namespace shepherd
