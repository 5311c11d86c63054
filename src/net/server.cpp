#include "net/server.h"

#include <deque>
#include <utility>

#include "net/acceptor.h"
#include "net/io_threads.h"
#include "net/server_core.h"
#include "net/shard.h"

namespace shepherd::net {

namespace {

class Server final : public HttpServer {
 public:
  Server(IoThreads& io, ListenOptions options, BoundSocket bound, HttpHandler& handler, const Clock& clock,
         MetricRegistry& metrics, SslContext tls)
      : core_(std::move(options), handler, clock, metrics, std::move(tls)),
        host_(std::move(bound.host)),
        port_(bound.port) {
    std::vector<Shard*> shards;
    for (EventLoop& loop : io.impl().loops) shards.push_back(&shards_.emplace_back(loop, core_));
    for (Shard& shard : shards_) {
      core_.part_added();
      shard.loop().post([&shard] { shard.start(); });
    }
    EventLoop& first = shards_.front().loop();
    listener_.emplace(bound.fd, first, core_, std::move(shards));
    core_.part_added();
    first.post([this] { listener_->start(); });
  }

  ~Server() override { shutdown(0); }

  std::uint16_t port() const override { return port_; }

  std::string url() const override {
    std::string host = host_.find(':') == std::string::npos ? host_ : "[" + host_ + "]";
    return (core_.tls ? "https://" : "http://") + host + ":" + std::to_string(port_);
  }

  void shutdown(std::int64_t deadline_ms) override {
    if (std::exchange(down_, true)) return;
    // Closes the listener first, so that its last connections are in the shards' queues before the shards' own end.
    shards_.front().loop().post([this] { listener_->close(); });
    core_.wait_for_parts(shards_.size());
    for (Shard& shard : shards_) shard.loop().post([&shard] { shard.drain(); });
    core_.wait_for_connections(std::chrono::milliseconds(deadline_ms));
    for (Shard& shard : shards_) shard.loop().post([&shard] { shard.end(); });
    core_.wait_for_parts(0);
  }

 private:
  ServerCore core_;
  std::deque<Shard> shards_;
  std::optional<Acceptor> listener_;
  std::string host_;
  std::uint16_t port_;
  bool down_ = false;
};

}  // namespace

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
  return std::make_unique<Server>(io, std::move(options), std::move(*bound), handler, clock, metrics, std::move(tls));
}

}  // namespace shepherd::net
