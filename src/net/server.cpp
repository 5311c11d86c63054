#include "net/server.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "net/acceptor.h"
#include "net/io_threads.h"
#include "net/server_core.h"
#include "net/shard.h"

namespace shepherd::net {

struct HttpServer::Impl {
  Impl(ListenOptions options, BoundSocket bound, HttpHandler& handler, const Clock& clock, MetricRegistry& metrics,
       SslContext tls)
      : core(std::move(options), handler, clock, metrics, std::move(tls)),
        host(std::move(bound.host)),
        port(bound.port) {}

  ServerCore core;
  std::deque<Shard> shards;
  std::optional<Acceptor> listener;
  std::string host;
  std::uint16_t port;
  bool down = false;
};

Result<std::unique_ptr<HttpServer>> HttpServer::listen(IoThreads& io, ListenOptions options, HttpHandler& handler,
                                                       const Clock& clock, MetricRegistry& metrics) {
  SslContext tls;
  if (!options.tls.certificate.empty()) {
    auto context = make_server_context(options.tls);
    if (!context) return fail(std::move(context.error()));
    tls = std::move(*context);
  }
  auto bound = bind_and_listen(options.address);
  if (!bound) return fail(std::move(bound.error()));
  int socket = bound->fd;
  auto impl = std::make_unique<Impl>(std::move(options), std::move(*bound), handler, clock, metrics, std::move(tls));
  std::vector<Shard*> shards;
  for (EventLoop& loop : io.impl().loops) shards.push_back(&impl->shards.emplace_back(loop, impl->core));
  for (Shard& shard : impl->shards) {
    impl->core.part_added();
    shard.loop().post([&shard] { shard.start(); });
  }
  EventLoop& first = impl->shards.front().loop();
  Acceptor& listener = impl->listener.emplace(socket, first, impl->core, std::move(shards));
  impl->core.part_added();
  first.post([&listener] { listener.start(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  shutdown(0);
}

std::uint16_t HttpServer::port() const {
  return impl_->port;
}

std::string HttpServer::url() const {
  const std::string& bound = impl_->host;
  std::string host = bound.find(':') == std::string::npos ? bound : "[" + bound + "]";
  return (impl_->core.tls ? "https://" : "http://") + host + ":" + std::to_string(impl_->port);
}

void HttpServer::shutdown(std::int64_t deadline_ms) {
  if (std::exchange(impl_->down, true)) return;
  std::deque<Shard>& shards = impl_->shards;
  // The listener goes first: the connections it handed over are in the shards' queues before their own end is.
  shards.front().loop().post([&listener = *impl_->listener] { listener.close(); });
  impl_->core.wait_for_parts(shards.size());
  for (Shard& shard : shards) shard.loop().post([&shard] { shard.drain(); });
  impl_->core.wait_for_connections(std::chrono::milliseconds(deadline_ms));
  for (Shard& shard : shards) shard.loop().post([&shard] { shard.end(); });
  impl_->core.wait_for_parts(0);
}

}  // namespace shepherd::net
