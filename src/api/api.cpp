#include "api/api.h"

#include <utility>

#include "api/core.h"
#include "api/port_handler.h"
#include "api/status_map.h"

namespace shepherd {

struct Api::Impl {
  explicit Impl(ApiParts parts)
      : core(std::move(parts)),
        public_listener(core, kOnPublic, "public", core.parts.config.public_listener),
        internal_listener(core, kOnInternal, "internal", core.parts.config.internal_listener) {
    revocations = core.parts.access.on_revoked(
        [this](const std::string& token_id) { core.live.cut_token(token_id, kCloseRevoked, "token revoked"); });
  }
  ~Impl() {
    core.parts.access.forget(revocations);
    core.active.wait();  // calls on lanes and in the writer's queue still use the core
    if (core.chat_timers != nullptr) {
      core.parts.chat_loop->post([timers = std::shared_ptr<net::Timers>(std::move(core.chat_timers))] {});
    }
  }

  Core core;
  PortHandler public_listener;
  PortHandler internal_listener;
  std::uint64_t revocations = 0;
};

Api::Api(ApiParts parts) : impl_(std::make_unique<Impl>(std::move(parts))) {}
Api::~Api() = default;

net::HttpHandler& Api::public_handler() {
  return impl_->public_listener;
}
net::HttpHandler& Api::internal_handler() {
  return impl_->internal_listener;
}
std::size_t Api::live_streams() const {
  return impl_->core.live.size();
}

}  // namespace shepherd
