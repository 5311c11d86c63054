// A complete streaming agent: counts to ten and accepts messages.
#include <shepherd/agent/agent.h>

#include <string>

namespace agent = shepherd::agent;

int main(int argc, char** argv) {
  return agent::serve({.address = argc > 1 ? argv[1] : "127.0.0.1:50051"}, [](agent::Execution& run) {
    run.reason("Ten is enough for: " + run.task().goal + "\n");
    for (int i = 1; i <= 10; ++i) {
      std::string input = "{\"number\":" + std::to_string(i) + "}";
      run.tool("count", input, [&] { return std::to_string(i); });
      run.output("Counted to " + std::to_string(i) + "\n");
      run.wait_for(std::chrono::milliseconds(50));
      while (auto word = run.next_steering()) run.output("Heard: " + word->content + "\n");
    }
  });
}
