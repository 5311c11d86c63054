#include "outbox/event_sink.h"

#include <optional>
#include <utility>

#include "client/problem.h"
#include "outbox/limits.h"

namespace shepherd {
namespace {

class ServerSink final : public EventSink {
 public:
  ServerSink(Locate locate, net::ClientTls tls, std::int64_t lease)
      : locate_(std::move(locate)), tls_(std::move(tls)), lease_(lease) {}

  Result<Posted> post_events(const std::string& task, std::string_view ndjson, const std::string& producer) override {
    if (Result<void> ready = connect(); !ready) return fail(std::move(ready.error()));
    Result<Posted> posted = server_->api.post_events(task, ndjson, producer, lease_);
    // The server may have another address or token by now.
    bool look_again =
        !posted && (posted.error().reason == "unreachable" || posted.error().code == ErrorCode::unauthenticated);
    if (look_again) server_.reset();
    return posted;
  }

  // Bypasses the ApiClient, because live text is given up much sooner than an event.
  Result<void> post_deltas(const std::string& task, std::string_view json) override {
    if (Result<void> ready = connect(); !ready) return ready;
    net::HeaderList headers{{"Content-Type", "application/json"}};
    const std::string& token = server_->api.destination().token;
    if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
    if (lease_ != 0) headers.emplace_back("Shepherd-Lease", std::to_string(lease_));
    auto response = server_->deltas.request("POST", "/api/v1/tasks/" + percent_encoded(task) + "/deltas", headers, json,
                                            kDeltaTimeout);
    if (!response) return fail(std::move(response.error()));
    if (response->status >= 400) return fail(read_problem(response->status, response->body));
    return {};
  }

 private:
  struct Server {
    ApiClient api;
    net::HttpClient deltas;
  };

  Result<void> connect() {
    if (server_) return {};
    Result<Destination> destination = locate_();
    if (!destination) return fail(std::move(destination.error()));
    auto url = net::parse_url(destination->internal_url);
    if (!url) return fail(std::move(url.error()));
    auto api = ApiClient::create(*std::move(destination), tls_);
    if (!api) return fail(std::move(api.error()));
    server_.emplace(*std::move(api), net::HttpClient(*std::move(url), tls_));
    return {};
  }

  Locate locate_;
  net::ClientTls tls_;
  const std::int64_t lease_;
  std::optional<Server> server_;
};

}  // namespace

std::unique_ptr<EventSink> make_server_sink(Locate locate, net::ClientTls tls, std::int64_t lease) {
  return std::make_unique<ServerSink>(std::move(locate), std::move(tls), lease);
}

}  // namespace shepherd
