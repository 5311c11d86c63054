#include "outbound/post_callback.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "net/http_call.h"
#include "net/whole_answer.h"
#include "outbound/callback_target.h"
#include "outbound/limits.h"

namespace shepherd {
namespace {

net::CallerOptions caller_options() {
  net::CallerOptions options;
  options.allowed = [](std::string_view address) { return !is_refused_address(address); };
  return options;
}

net::ClientBounds answer_bounds() {
  net::ClientBounds bounds;
  bounds.max_response_bytes = kMaxCallbackAnswerBytes;
  bounds.status_only = true;
  return bounds;
}

}  // namespace

// Everything but `loop` belongs to the loop's thread.
struct HttpPoster::Impl {
  explicit Impl(net::EventLoop& given) : loop(given) {}

  struct Active {
    explicit Active(net::WholeAnswer::Done done) : answer(answer_bounds(), std::move(done)) {}
    net::WholeAnswer answer;
    net::HttpCall call;  // destroyed first, because it calls the answer
  };
  void start(CallbackPost post, Done done);
  void end(std::uint64_t number, Result<int> status);
  void stop() {
    stopped = true;
    active.clear();
    caller.reset();
  }

  net::EventLoop& loop;
  bool stopped = false;
  std::optional<net::HttpCaller> caller;  // made by the first post
  std::uint64_t last = 0;
  struct Entry {
    Done done;
    std::unique_ptr<Active> active;
  };
  std::map<std::uint64_t, Entry> active;
};

void HttpPoster::Impl::start(CallbackPost post, Done done) {
  if (stopped) return;
  if (!caller) caller.emplace(loop, caller_options());
  std::uint64_t number = ++last;
  Entry& entry = active[number];
  entry.done = std::move(done);
  entry.active = std::make_unique<Active>([this, number](Result<net::ClientResponse> response) {
    end(number, response ? Result<int>(response->status) : fail(std::move(response.error())));
  });
  net::CallRequest request{"POST", std::move(post.url), std::move(post.headers), own_bytes(std::move(post.body)), {}};
  request.timeouts.first_byte = request.timeouts.idle = std::chrono::milliseconds(0);
  request.timeouts.whole = kCallbackTimeout;
  entry.active->call = caller->start(std::move(request), entry.active->answer);
}

void HttpPoster::Impl::end(std::uint64_t number, Result<int> status) {
  auto found = active.find(number);
  if (found == active.end()) return;
  Entry entry = std::move(found->second);
  active.erase(found);
  entry.active->call.cancel();  // the rest of a long answer is not read
  // The observer's function is still on the stack; it goes with the next work of the loop.
  loop.post([over = std::move(entry.active)] {});
  entry.done(std::move(status));
}

HttpPoster::HttpPoster(net::EventLoop& loop) : impl_(std::make_shared<Impl>(loop)) {}

HttpPoster::~HttpPoster() {
  stop();
}

void HttpPoster::post(CallbackPost request, Done done) {
  impl_->loop.post([impl = impl_, request = std::move(request), done = std::move(done)]() mutable {
    impl->start(std::move(request), std::move(done));
  });
}

void HttpPoster::stop() {
  impl_->loop.post([impl = impl_] { impl->stop(); });
}

}  // namespace shepherd
