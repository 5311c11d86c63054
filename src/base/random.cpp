#include "base/random.h"

#include <sys/random.h>

#include "base/assert.h"

namespace shepherd {

std::uint64_t SystemRandom::next() {
  std::uint64_t value = 0;
  ssize_t got = getrandom(&value, sizeof value, 0);
  SHEPHERD_ASSERT(got == sizeof value, "the kernel must give random bytes");
  return value;
}

}  // namespace shepherd
