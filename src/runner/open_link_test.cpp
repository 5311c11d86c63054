#include "runner/open_link.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

class NobodyListens final : public AgentObserver {
  void on_output(AgentStream, std::string_view) override {}
  void on_end(const AgentEnd&) override {}
};

TEST(OpenLink, AServiceNeedsAnAddress) {
  SystemClock clock;
  NobodyListens nobody;
  LinkRequest request;
  request.agent = "notes";
  request.plan.way = GrpcLaunch{"/a.B/C"};
  EXPECT_EQ(open_link(request, nobody, clock).error().reason, "no_address");
}

TEST(OpenLink, AProgramsEnvironmentIsWhole) {
  AgentSettings settings;
  settings.environment = {"A=1"};
  ProgramLaunch program{{"x"}, {{"B", "2"}}};
  EXPECT_EQ(program_environment(settings, program), (std::vector<std::string>{"A=1", "B=2"}));
  settings.confinement.level = ConfineLevel::workspace;
  EXPECT_EQ(program_environment(settings, program).back(), "TMPDIR=/tmp");
}

}  // namespace
}  // namespace shepherd
