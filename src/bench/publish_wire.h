// A publisher's protocol: how to write a request, and where an answer ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/link.h"

namespace shepherd::bench {

// Threads: value (const methods from any thread).
class PublishWire {
 public:
  virtual ~PublishWire() = default;
  virtual void append_request(std::string& out, std::size_t channel, std::string_view body) const = 0;
  // Size of the first answer in `in`; 0: not complete yet. unavailable/refused with the server's message.
  virtual Result<std::size_t> read_answer(std::string_view in) const = 0;
};

// POST with keep-alive to one target per channel; any 2xx is success.
class HttpWire final : public PublishWire {
 public:
  HttpWire(const Address& at, const std::vector<std::string>& targets, const std::string& headers);
  void append_request(std::string& out, std::size_t channel, std::string_view body) const override;
  Result<std::size_t> read_answer(std::string_view in) const override;

 private:
  std::vector<std::string> heads_;  // up to the value of Content-Length
};

}  // namespace shepherd::bench
