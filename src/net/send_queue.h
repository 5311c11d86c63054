// A connection's unsent bytes. Empty, and without memory, while the peer keeps up.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "net/socket.h"

namespace shepherd::net {

// Threads: strand.
class SendQueue {
 public:
  enum class Status { sent, kept, failed };
  struct Outcome {
    Status status;
    std::size_t bytes;  // sent to the kernel in this call
  };

  // Sends the spans after the kept ones; keeps what the kernel does not accept, with its owners.
  Outcome write(Socket& socket, std::span<const ByteSpan> spans);
  // The same for bytes without an owner; copies only the unsent rest.
  Outcome write_copy(Socket& socket, std::string_view bytes);
  Outcome flush(Socket& socket);
  bool empty() const { return kept_ == nullptr; }

 private:
  struct Kept {
    std::vector<ByteSpan> spans;
    std::size_t first = 0;  // spans before it are sent
  };

  void keep(std::span<const ByteSpan> spans, std::size_t skip_bytes);

  std::unique_ptr<Kept> kept_;
};

}  // namespace shepherd::net
