#include <atomic>
#include <utility>

#include "net/client.h"
#include "net/http_call.h"

namespace shepherd::net {

namespace {

// Gathers one answer.
class WholeAnswer final : public CallObserver {
 public:
  explicit WholeAnswer(const ClientBounds& bounds) : bounds_(bounds) {}

  void on_head(ResponseHead&& head) override {
    response.status = head.status;
    response.headers = std::move(head.headers);
  }
  void on_body(std::string_view piece) override {
    if (result) return;
    if (piece.size() <= bounds_.max_response_bytes - response.body.size()) {
      response.body.append(piece);
    } else if (bounds_.status_only) {
      result.emplace();
    } else {
      result = fail(ErrorCode::internal, "bad_response",
                    "the answer is larger than " + std::to_string(bounds_.max_response_bytes) + " bytes");
    }
  }
  void on_end(Result<void> end) override {
    if (!result) result = std::move(end);
  }

  ClientResponse response;
  std::optional<Result<void>> result;  // also before the end, if the rest is not wanted

 private:
  const ClientBounds& bounds_;
};

}  // namespace

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
  WholeAnswer answer(impl_->bounds);
  HttpCall call = impl_->caller.start(std::move(request), answer);
  while (!answer.result && !impl_->cancelled) impl_->loop.turn(std::chrono::steady_clock::time_point::max());
  call.cancel();
  if (!answer.result) return fail(ErrorCode::unavailable, "cancelled", "the request was given up");
  if (!*answer.result) return fail(std::move(answer.result->error()));
  return std::move(answer.response);
}

// The loop that waits on the connection is woken here; request() closes it there.
void HttpClient::cancel() {
  impl_->cancelled = true;
  impl_->loop.post([] {});
}

}  // namespace shepherd::net
