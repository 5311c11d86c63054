// What to do when no connection to a streaming agent comes about, read from gRPC's own words.
//
// gRPC tells what it found wrong itself, but not what the other side did: an agent that wants another certificate of
// ours, or TLS at all, closes the connection, and gRPC says "Socket closed" and no more. What we gave tells the rest.
// Threads: value.
#pragma once

#include <string_view>

namespace shepherd {

struct ConnectAdvice {
  std::string_view text = {};  // empty: gRPC's words say it all
  bool is_final = false;       // trying again cannot help: a server answers, and one side does not trust the other
};

// `why`: the message of a call that found no connection. `certificate`: we gave one of ours.
ConnectAdvice connect_advice(std::string_view why, bool tls, bool certificate);

}  // namespace shepherd
