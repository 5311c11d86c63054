// Plays recordings of agents of the Agent Client Protocol (driver/replay.h).
//
// The driver's requests have other ids than those of the recorded client, and may be others: answers are given to the
// driver's request of the same kind, and an answer to what only the recorded client asked is left out. Where there is
// only what the agent printed, an answer says by its members what it answers, and each one that ends a turn had a
// prompt. Threads: caller.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/replay.h"

namespace shepherd {

class AcpReplay final : public Replay {
 public:
  using Replay::Replay;

  bool prepare(const RecordedLine& line, Launch& launch) const override;
  void wrote(std::string_view bytes) override;
  void from_agent(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void to_agent(std::string_view line, std::int64_t now_ms, Actions& out) override;

 private:
  struct Request {
    std::string id, kind;  // id: JSON
  };
  struct Ask {
    std::string approval_id, params;
  };
  // Lets the driver do something, and keeps in mind what it asks for.
  void step(const std::function<void(Actions&)>& act, Actions& out, std::string_view request_id = {},
            std::string_view params = {});
  std::optional<std::string> ours(std::string_view kind);  // takes the oldest one's id
  void command(Command command, std::int64_t now_ms, Actions& out);

  std::string kind_of_answer(std::string_view line, std::int64_t now_ms, Actions& out);
  void prompt_unless_there(std::int64_t now_ms, Actions& out);
  void answer_settings(std::int64_t now_ms, Actions& out);
  void client_request(std::string_view method, std::string_view line, std::int64_t now_ms, Actions& out);
  void client_prompt(std::string_view params, std::int64_t now_ms, Actions& out);
  void client_answer(std::string_view line, std::int64_t now_ms, Actions& out);
  void decide(const Ask& ask, std::string_view result, std::int64_t now_ms, Actions& out);

  std::vector<Request> ours_;                              // the driver's requests without an answer
  std::map<std::string, std::string, std::less<>> asked_;  // the recorded client's: id -> kind; "": to be left out
  std::map<std::string, Ask, std::less<>> asks_;           // by the id of the agent's request
  std::map<std::string, HostCall, std::less<>> calls_;     // the same
  bool heard_client_ = false;
  int prompts_ = 0, said_ = 0;
};

}  // namespace shepherd
