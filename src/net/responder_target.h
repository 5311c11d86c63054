// The other end of a Responder, which takes the one answer to a request.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "net/http.h"

namespace shepherd::net {

struct StreamAnswer {
  Response head;
  std::shared_ptr<StreamHandler> handler;
};
struct UpgradeAnswer {
  std::string subprotocol;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<StreamHandler> handler;
};
struct NoAnswer {};  // the responder was dropped

using Answer = std::variant<NoAnswer, Response, StreamAnswer, UpgradeAnswer>;

// Threads: any.
class Responder::Target {
 public:
  virtual ~Target() = default;
  virtual void answer(Answer answer) = 0;  // exactly once
  virtual Executor& executor() = 0;
  virtual bool peer_gone() const = 0;
};

}  // namespace shepherd::net
