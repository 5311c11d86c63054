#include "runner/known_dialects.h"

#include "driver/grpc/dialect.h"
#include "runner/limits.h"

namespace shepherd {

void KnownDialects::add_to(LaunchOptions& options, const std::string& address) const {
  MutexLock lock(mutex_);
  auto known = first_.find(address);
  if (known == first_.end() || options.contains(kDialectOption)) return;
  options.insert_or_assign(std::string(kFirstDialectOption), known->second);
}

void KnownDialects::answered(const LaunchOptions& options, const std::string& address) {
  MutexLock lock(mutex_);
  auto first = options.find(kFirstDialectOption);
  if (first == options.end() || grpc_dialect(first->second) == GrpcDialect::json) {
    first_.erase(address);
  } else if (first_.size() < kMaxKnownDialects || first_.contains(address)) {
    first_.insert_or_assign(address, first->second);
  }
}

}  // namespace shepherd
