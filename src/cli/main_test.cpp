// The tests' own main(). A test that starts an agent's program starts this executable again as its warden, which must
// not run all tests again. Threads: caller.
#include <gtest/gtest.h>

#include <string_view>

#include "process/warden.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == shepherd::kWardenCommand) return shepherd::warden_main(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
