// The tests' own main(): whatever starts an agent's program starts this executable again as its warden, and must not
// get a second run of all tests. Threads: caller.
#include <gtest/gtest.h>

#include <string_view>

#include "process/warden.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == shepherd::kWardenCommand) return shepherd::warden_main(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
