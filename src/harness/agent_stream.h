// One StreamExecute call against the agent under test. Keeps everything in a transcript; every wait has a time limit.
//
// Owns the call and the thread that reads it; the destructor cancels what still runs.
// Threads: caller.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "harness/transcript.h"

namespace shepherd::harness {

// Where the agent listens and how it wants to be called.
struct AgentTarget {
  std::string address;      // host:port, unix:PATH
  std::string ca_pem = {};  // TLS with these authorities; empty with `tls`: the system's
  bool tls = false;
  std::string cert_pem = {}, key_pem = {};           // of ours; empty: none
  std::string server_name = {};                      // that its certificate has; empty: the address's
  std::string token = {};                            // sent as `authorization: Bearer …`
  std::map<std::string, std::string> metadata = {};  // sent with every call
};

class AgentChannel;

std::shared_ptr<AgentChannel> open_channel(const AgentTarget& target);
bool wait_until_ready(AgentChannel& channel, std::chrono::milliseconds timeout);
// Why a channel that is not ready is not: gRPC's own words. Empty: it is still trying.
std::string why_not_ready(AgentChannel& channel);

// What the agent's server offers besides.
bool health_is_serving(AgentChannel& channel, std::chrono::milliseconds timeout);
bool reflection_lists_service(AgentChannel& channel, std::chrono::milliseconds timeout);

class AgentStream {
 public:
  enum class Wait { found, ended, timed_out };
  using Pattern = std::function<bool(const gibson::agent::AgentMessage&)>;

  AgentStream(AgentChannel& channel, std::string scenario);
  ~AgentStream();
  AgentStream(const AgentStream&) = delete;
  AgentStream& operator=(const AgentStream&) = delete;

  void start(const std::string& task_json, gibson::agent::AgentMode mode);
  void send(const gibson::agent::ClientMessage& message);
  void steer(const std::string& id, const std::string& content);
  void interrupt(const std::string& reason);
  void resume(const std::string& guidance);
  void set_mode(gibson::agent::AgentMode mode);
  void half_close();
  void cancel();

  // Reads on until a message fits, the stream ends or the time is over. A message is looked at once.
  Wait wait_for(const Pattern& pattern, std::chrono::milliseconds timeout);
  Wait wait_for_status(gibson::agent::AgentStatus status, std::chrono::milliseconds timeout);
  bool wait_for_end(std::chrono::milliseconds timeout);  // false: it has not ended

  Transcript& transcript() { return transcript_; }

 private:
  struct Impl;
  void keep(SeenMessage seen);
  std::unique_ptr<Impl> impl_;
  Transcript transcript_;
  std::size_t kept_bytes_ = 0;
  bool full_ = false;  // nothing more is kept: what follows would look like a gap
};

}  // namespace shepherd::harness
