// Assertions about our own code, checked in release builds too: a process that broke its own invariants must not keep
// writing a log. Never used on outside input, which gets an Error. Threads: any.
#pragma once

#include <cstdio>
#include <cstdlib>

#define SHEPHERD_ASSERT(condition, why)                                                                \
  do {                                                                                                 \
    if (!(condition)) [[unlikely]] {                                                                   \
      std::fprintf(stderr, "%s:%d: broken invariant: %s (%s)\n", __FILE__, __LINE__, why, #condition); \
      std::abort();                                                                                    \
    }                                                                                                  \
  } while (false)
