// The driver of streaming agents: services that speak gibson.agent.AgentService/StreamExecute.
//
// A record is one AgentMessage, as the wire has it or in its JSON form. Messages of the typed dialect are translated to
// those of the JSON dialect first. An agent that ends its call without a word may speak the other dialect: finish()
// then asks for a second start. The first word to the agent is the start; after it come steering, interrupts, resumes
// and modes. Steering is settled by the agent's own ack, interrupt and resume by the status that follows them; what is
// not answered in time expires. Threads: caller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.h"
#include "driver/event_json.h"
#include "driver/grpc/chunk_joiner.h"
#include "driver/grpc/dialect.h"
#include "driver/grpc/sequence_check.h"
#include "driver/grpc/status.h"
#include "driver/open_calls.h"

namespace gibson::agent {
class AgentMessage;
class ClientMessage;
}  // namespace gibson::agent

namespace shepherd {

class GrpcAgent final : public Driver {
 public:
  GrpcAgent();
  ~GrpcAgent() override;

  std::string_view name() const override { return "grpc"; }
  Result<LaunchPlan> launch(const Launch& launch) override;
  void record(std::string_view record, std::int64_t now_ms, Actions& out) override;
  void stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void tick(std::int64_t now_ms, Actions& out) override;
  void command(const Command& command, std::int64_t now_ms, Actions& out) override;
  Verdict finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) override;
  Capabilities capabilities() const override;
  AgentTraits traits() const override;
  Hints hints() const override;

 private:
  // What the agent last said of itself.
  enum class Said : std::uint8_t { nothing, running, waiting, interrupted, completed, failed };
  struct Open {
    std::string id;
    CommandKind kind = CommandKind::steer;
    std::int64_t expires_ms = 0;
    std::int64_t seconds = 0;
  };

  // grpc_agent.cpp: one record
  void choose_dialect(const LaunchOptions& options);
  bool read(std::string_view record);
  std::optional<Verdict::Retry> other_dialect(const ExitFacts& exit) const;
  StreamFault fault_of(const ExitFacts& exit) const;
  bool check_number(Actions& out);
  void note(std::string_view summary, std::string_view more_members, Actions& out);
  void not_protocol(std::string_view record, std::string_view summary, Actions& out);
  Verdict verdict(const ExitFacts& exit) const;
  void tell_end(const Verdict& verdict, const ExitFacts& exit, Actions& out);

  // grpc_messages.cpp: one message
  void dispatch(std::string_view record, Actions& out);
  void output(Actions& out);
  void joined(const std::optional<JoinedChunks>& chunks, Actions& out);
  void tool_call(Actions& out);
  void tool_result(Actions& out);
  void finding(Actions& out);
  void status(Actions& out);
  void error(Actions& out);
  EventParts step(EventType type) const;

  // grpc_steering.cpp: commands and what settles them
  void say(const gibson::agent::ClientMessage& message, Actions& out);
  void open(const Command& command, Actions& out);
  void steering_ack(Actions& out);
  void settle(CommandKind kind, Actions& out);
  void expire(Actions& out);

  std::unique_ptr<gibson::agent::AgentMessage> message_;  // the one at hand
  std::string json_;                                      // its JSON form
  std::int64_t now_ms_ = 0;                               // of the call
  std::int64_t at_ms_ = 0;                                // of the message, by the agent's clock when it says

  GrpcDialect dialect_ = GrpcDialect::json;
  bool may_switch_ = false;  // the other dialect may be tried
  std::string refused_;      // what the agent said to the other dialect, which was tried before

  ChunkJoiner chunks_;
  SequenceCheck numbers_;
  std::size_t notes_ = 0;
  OpenCalls calls_;
  std::vector<Open> open_;
  Hints hints_;
  Said said_ = Said::nothing;
  std::string last_text_, last_status_, fatal_;
  bool deltas_ = false;
  bool stopping_ = false;
  bool paused_ = false;  // its newest status is PAUSED
};

}  // namespace shepherd
