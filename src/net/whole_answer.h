// Gathers the answer of one call, for callers that do not stream.
#pragma once

#include <functional>
#include <utility>

#include "net/client.h"
#include "net/http_call.h"

namespace shepherd::net {

// Calls `done` once: at the end, or as soon as the body exceeds its bound (internal/bad_response; a good answer if only
// its status is wanted). `done` may cancel the call; what still arrives is ignored. Errors: those of the call.
// Threads: strand.
class WholeAnswer final : public CallObserver {
 public:
  using Done = std::function<void(Result<ClientResponse>)>;

  WholeAnswer(const ClientBounds& bounds, Done done)
      : max_bytes_(bounds.max_response_bytes), status_only_(bounds.status_only), done_(std::move(done)) {}

  void on_head(ResponseHead&& head) override;
  void on_body(std::string_view piece) override;
  void on_end(Result<void> end) override;

 private:
  void finish(Result<ClientResponse> result);

  const std::size_t max_bytes_;
  const bool status_only_;
  Done done_;  // null once called
  ClientResponse response_;
};

}  // namespace shepherd::net
