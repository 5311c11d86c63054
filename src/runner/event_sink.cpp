#include "runner/event_sink.h"

#include <utility>

#include "base/limits.h"
#include "client/problem.h"

namespace shepherd {
namespace {

class ServerSink final : public EventSink {
 public:
  ServerSink(ApiClient api, net::HttpClient deltas) : api_(std::move(api)), deltas_(std::move(deltas)) {}

  Result<Posted> post_events(const std::string& task, std::string_view ndjson, const std::string& producer) override {
    return api_.post_events(task, ndjson, producer);
  }

  // Not through the ApiClient: live text is given up long before an event would be.
  Result<void> post_deltas(const std::string& task, std::string_view json) override {
    net::HeaderList headers{{"Content-Type", "application/json"}};
    const std::string& token = api_.destination().token;
    if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
    auto response =
        deltas_.request("POST", "/api/v1/tasks/" + percent_encoded(task) + "/deltas", headers, json, kDeltaTimeout);
    if (!response) return fail(std::move(response.error()));
    if (response->status >= 400) return fail(read_problem(response->status, response->body));
    return {};
  }

 private:
  ApiClient api_;
  net::HttpClient deltas_;
};

}  // namespace

Result<std::unique_ptr<EventSink>> make_server_sink(Destination destination, net::ClientTls tls) {
  auto url = net::parse_url(destination.internal_url);
  if (!url) return fail(std::move(url.error()));
  auto api = ApiClient::create(std::move(destination), tls);
  if (!api) return fail(std::move(api.error()));
  return std::make_unique<ServerSink>(std::move(*api), net::HttpClient(std::move(*url), tls));
}

}  // namespace shepherd
