// Options that name a server and the trusted authorities.
// Threads: value.
#pragma once

#include <string>

#include "net/client.h"

namespace shepherd {

struct ServerOptions {
  std::string url, internal_url, data, ca_file;
  bool insecure_tls = false;

  net::ClientTls tls() const { return {ca_file, insecure_tls}; }
};

}  // namespace shepherd
