// One StreamExecute call to the agent under test, in the dialect of its channel. Typed messages are translated to those
// of the JSON dialect, so the rules are the same for both. Records everything in a transcript; every wait has a time
// limit.
//
// Owns the call and the thread that reads it; the destructor cancels a running call.
// Threads: caller.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "driver/grpc/dialect.h"
#include "harness/transcript.h"

namespace shepherd::harness {

// The agent's address and how to call it.
struct AgentTarget {
  std::string address;      // host:port, unix:PATH
  std::string ca_pem = {};  // TLS with these authorities; with `tls` and empty: the system's
  bool tls = false;
  std::string cert_pem = {}, key_pem = {};           // our certificate, or empty
  std::string server_name = {};                      // name in the agent's certificate; empty: from the address
  GrpcDialect dialect = GrpcDialect::json;           // of its messages
  std::string token = {};                            // sent as `authorization: Bearer …`
  std::map<std::string, std::string> metadata = {};  // sent with every call
};

class AgentChannel;

std::shared_ptr<AgentChannel> open_channel(const AgentTarget& target);
bool wait_until_ready(AgentChannel& channel, std::chrono::milliseconds timeout);
// gRPC's error text for a channel that is not ready; empty while it is still connecting.
std::string why_not_ready(AgentChannel& channel);

// Further services that the agent's server offers.
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

  void send(const gibson::agent::ClientMessage& message) { send_bytes(message.SerializeAsString()); }
  void send_bytes(const std::string& message);  // serialized
  void steer(const std::string& id, const std::string& content);
  void interrupt(const std::string& reason);
  void resume(const std::string& guidance);
  void set_mode(gibson::agent::AgentMode mode);
  void half_close();
  void cancel();

  // Reads until a message matches, the stream ends or the time is over. Each message is matched only once.
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
  bool full_ = false;  // the transcript is full, so its rest would look like a gap
};

}  // namespace shepherd::harness
