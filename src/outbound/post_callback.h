// One attempt to send a callback, without waiting for it on a thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/call_options.h"
#include "net/event_loop.h"
#include "net/url.h"

namespace shepherd {

struct CallbackPost {
  net::Url url;
  net::HeaderList headers;
  std::string body;
};

// Sends callbacks. Tests and the simulation have their own. Threads: any.
class CallbackPoster {
 public:
  using Done = std::move_only_function<void(Result<int>)>;
  virtual ~CallbackPoster() = default;
  // Sends one request and calls `done` with the HTTP status, on any thread and never inside post(), unless stop() comes
  // first.
  virtual void post(CallbackPost request, Done done) = 0;
  // Gives up active and later posts.
  virtual void stop() = 0;
};

// The real one, on an event loop: refuses forbidden addresses after resolving, follows no redirects, and gives up after
// kCallbackTimeout. A post costs a socket and no thread. The loop must outlive it. Threads: any.
class HttpPoster final : public CallbackPoster {
 public:
  explicit HttpPoster(net::EventLoop& loop);
  ~HttpPoster() override;  // like stop()
  HttpPoster(const HttpPoster&) = delete;
  HttpPoster& operator=(const HttpPoster&) = delete;

  void post(CallbackPost request, Done done) override;
  void stop() override;

 private:
  struct Impl;
  const std::shared_ptr<Impl> impl_;  // shared: the loop has work that refers to it
};

}  // namespace shepherd
