// What a connection still has to send. Empty, and then without memory, as long as the peer keeps up.
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
    std::size_t bytes;  // that went to the kernel in this call
  };

  // Sends the spans behind what is kept; keeps what the kernel does not take, with its owners.
  Outcome write(Socket& socket, std::span<const ByteSpan> spans);
  // The same for bytes that the caller does not keep: only the unsent rest is copied.
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
