#include <atomic>
#include <utility>

#include "net/client.h"
#include "net/http_call.h"
#include "net/whole_answer.h"

namespace shepherd::net {

std::string_view ClientResponse::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_name) return value;
  }
  return {};
}

struct HttpClient::Impl {
  Impl(Url url, ClientTls tls, ClientBounds client_bounds)
      : origin(std::move(url)), bounds(std::move(client_bounds)), caller(loop, {std::move(tls), bounds.allowed}) {}

  const Url origin;
  const ClientBounds bounds;
  EventLoop loop;
  HttpCaller caller;
  std::atomic<bool> cancelled = false;
};

HttpClient::HttpClient(Url origin, ClientTls tls, ClientBounds bounds)
    : impl_(std::make_unique<Impl>(std::move(origin), std::move(tls), std::move(bounds))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<ClientResponse> HttpClient::request(std::string_view method, std::string_view target, const HeaderList& headers,
                                           std::string_view body, std::chrono::milliseconds timeout) {
  CallRequest request{std::string(method), impl_->origin, headers, {nullptr, body}, {}};
  request.url.target = target;
  request.timeouts.first_byte = request.timeouts.idle = std::chrono::milliseconds(0);
  request.timeouts.whole = timeout;
  std::optional<Result<ClientResponse>> result;
  WholeAnswer answer(impl_->bounds, [&](Result<ClientResponse> given) { result = std::move(given); });
  HttpCall call = impl_->caller.start(std::move(request), answer);
  while (!result && !impl_->cancelled) impl_->loop.turn(std::chrono::steady_clock::time_point::max());
  call.cancel();
  if (!result) return fail(ErrorCode::unavailable, "cancelled", "the request was given up");
  return *std::move(result);
}

// The loop that waits on the connection is woken here; request() closes it there.
void HttpClient::cancel() {
  impl_->cancelled = true;
  impl_->loop.post([] {});
}

}  // namespace shepherd::net
