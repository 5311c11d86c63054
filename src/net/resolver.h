// The addresses of a host's name, looked up beside the event loop.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/url.h"

namespace shepherd::net {

// An address and a port to connect to.
// Threads: value.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  bool is_v6() const { return storage.ss_family == AF_INET6; }
  std::string host() const;  // "10.0.0.1", "fe80::1"; an IPv4 address inside an IPv6 one as IPv4
  std::string text() const;  // host and port: "10.0.0.1:80", "[::1]:80"
};

// The address that the host itself is ("127.0.0.1", "::1"); nullopt for a name.
std::optional<Address> literal_address(const Url& url);

// The system's resolver blocks and cannot be interrupted, so it runs in one of a few threads of the process, which may
// outlive the call. Destroying a look-up drops its answer. Threads: strand (the loop's thread).
class Lookup {
 public:
  // Called on the loop's thread. Errors: unavailable/unreachable, with the host and the resolver's words.
  using Done = std::function<void(Result<std::vector<Address>>)>;

  Lookup(EventLoop& loop, const Url& url, Done done);
  Lookup(EventLoop& loop, std::vector<Address> known, Done done);  // for addresses that need no look-up
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  // Shared with the thread that looks up, which may end later than the loop.
  struct Mailbox {
    Mutex mutex;
    EventLoop* loop GUARDED_BY(mutex) = nullptr;  // null: the answer is not wanted any more
    Done done;                                    // used on the loop's thread
    void answer(Result<std::vector<Address>> found, const std::shared_ptr<Mailbox>& self) EXCLUDES(mutex);
    bool wanted() EXCLUDES(mutex);
  };

 private:
  Lookup(EventLoop& loop, Done done);

  std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace shepherd::net
