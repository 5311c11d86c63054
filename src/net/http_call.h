// HTTP/1.1 calls on an event loop: many at once on one thread, each streamed, paused and cancelled by itself.
//
// A call goes through its phases without blocking: name, address, proxy, TLS, request, answer. Each phase has its
// time-out (CallTimeouts). The observer gets the head, then the body in the pieces in which it arrives, then the end.
// Connections are kept and used again.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "net/call_options.h"
#include "net/event_loop.h"
#include "net/proxy.h"
#include "net/response_reader.h"
#include "net/url.h"

namespace shepherd::net {

struct CallRequest {
  std::string method = "GET";
  Url url;
  HeaderList headers;  // a Host header replaces the URL's; Content-Length and Transfer-Encoding are ours
  ByteSpan body;       // own_bytes(text), or bytes that outlive the call
  CallTimeouts timeouts;
};

// Called on the loop's thread, never inside HttpCaller::start(). It may cancel its call and start others; it must
// outlive its call and must not destroy the HttpCaller.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void on_head(ResponseHead&& head) = 0;
  virtual void on_body(std::string_view piece) = 0;  // valid during the call only
  // The last one, exactly once, unless the call was cancelled. Errors: unavailable/unreachable (refused, DNS, reset),
  // unavailable/timed_out, unavailable/bad_certificate, unavailable/proxy_refused, internal/bad_response,
  // unavailable/cancelled (the loop or the HttpCaller ended), permission_denied/refused_address,
  // invalid_argument/bad_proxy, invalid_argument/bad_request. An HTTP error status is no Error.
  virtual void on_end(Result<void> result) = 0;
};

// The handle of a call. Cancelling or destroying it closes the connection at once, and the observer is not called any
// more. Does nothing after the end. Threads: strand.
class HttpCall {
 public:
  HttpCall() = default;
  HttpCall(HttpCall&&) noexcept = default;
  HttpCall& operator=(HttpCall&& other) noexcept;
  ~HttpCall() { cancel(); }

  void cancel();
  // The peer feels it, because nothing more is read. The idle time-out stands still.
  void pause();
  void resume();

  struct Impl;  // the call's state; its functions are in http_call.cpp

 private:
  friend class HttpCaller;
  explicit HttpCall(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

struct CallerOptions {
  ClientTls tls;
  AddressRule allowed;
  ProxyRules proxies = ProxyRules::of_process();
};

// Makes calls and keeps idle connections, at most kIdlePerOrigin to a server and kIdleConnections in all. A request is
// sent a second time only if a kept connection ended before the first byte of the answer, and only if it may be
// repeated (GET, HEAD, PUT, DELETE) or none of it was sent. Redirects are not followed. Destroying it, like the end of
// the loop, ends all calls with unavailable/cancelled.
// Threads: strand; any may construct it.
class HttpCaller {
 public:
  explicit HttpCaller(EventLoop& loop, CallerOptions options = {});
  ~HttpCaller();
  HttpCaller(const HttpCaller&) = delete;
  HttpCaller& operator=(const HttpCaller&) = delete;

  HttpCall start(CallRequest request, CallObserver& observer);

  struct Impl;  // the pool; calls hold it

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace shepherd::net
