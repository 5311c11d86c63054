// Authenticates callers: reads the bearer token in a call's metadata, checks its rights and writes the audit record.
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

// One call for its audit record.
struct CallTrail {
  std::shared_ptr<const Principal> principal;  // nullptr if unknown
  std::string peer, method;
  std::int64_t begun_wall_ms = 0, begun_steady_ms = 0;
};

// Threads: any.
class Callers {
 public:
  // Without `auth` every caller is let in; the configuration has checked that the network allows it.
  Callers(Access& access, Audit& audit, const Clock& clock, bool auth);

  // Returns the caller, who may view everything. Errors: unauthenticated, permission_denied, rate_limited.
  Result<std::shared_ptr<const Principal>> identify(const grpc::CallbackServerContext& context);
  CallTrail trail(const grpc::CallbackServerContext& context, std::string_view method) const;
  bool still_valid(const Principal& principal) const;
  void record(const CallTrail& trail, const grpc::Status& status, std::uint64_t messages) const;

 private:
  Access& access_;
  Audit& audit_;
  const Clock& clock_;
  FailedLoginLimit failed_logins_;
  std::shared_ptr<const Principal> anonymous_;  // set if there is no authentication
};

}  // namespace shepherd
