// Who is calling: the bearer token in a call's metadata, what it may do, and the audit's record of it.
#pragma once

#include <grpcpp/server_context.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "access/access.h"
#include "access/audit.h"
#include "access/principal.h"
#include "access/rate_limit.h"
#include "base/clock.h"
#include "base/result.h"

namespace shepherd {

// One call as the audit will tell it.
struct CallTrail {
  std::shared_ptr<const Principal> principal;  // nullptr: not known
  std::string peer, method;
  std::int64_t begun_wall_ms = 0, begun_steady_ms = 0;
};

// Threads: any.
class Callers {
 public:
  // auth false: every caller is let in; the operator has to protect the network.
  Callers(Access& access, Audit& audit, const Clock& clock, bool auth);

  // The caller, who may view everything. unauthenticated, permission_denied, rate_limited.
  Result<std::shared_ptr<const Principal>> identify(const grpc::CallbackServerContext& context);
  CallTrail trail(const grpc::CallbackServerContext& context, std::string_view method) const;
  bool still_valid(const Principal& principal) const;
  void record(const CallTrail& trail, const grpc::Status& status, std::uint64_t messages) const;

 private:
  Access& access_;
  Audit& audit_;
  const Clock& clock_;
  FailedLoginLimit failed_logins_;
  std::shared_ptr<const Principal> anonymous_;  // set when there is no authentication
};

}  // namespace shepherd
