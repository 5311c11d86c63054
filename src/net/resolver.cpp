#include "net/resolver.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <array>
#include <csignal>
#include <cstring>
#include <deque>
#include <system_error>
#include <thread>
#include <utility>

#include "net/limits.h"

namespace shepherd::net {

namespace {

struct LookupJob {
  Url url;
  std::shared_ptr<Lookup::Mailbox> mailbox;
};

std::unexpected<Error> not_found(const Url& url, const std::string& why) {
  return fail(ErrorCode::unavailable, "unreachable", "cannot reach " + host_header(url) + ": " + why);
}

Result<std::vector<Address>> look_up(const Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (int error = getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found); error != 0) {
    return not_found(url, gai_strerror(error));
  }
  std::vector<Address> addresses;
  for (addrinfo* at = found; at != nullptr && addresses.size() < kMaxDialedAddresses; at = at->ai_next) {
    if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
    Address& address = addresses.emplace_back();
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    address.size = at->ai_addrlen;
  }
  freeaddrinfo(found);
  if (addresses.empty()) return not_found(url, "the name has no address");
  return addresses;
}

// The threads of the process. They start when needed and end when nothing waits.
// Threads: any.
class LookupThreads {
 public:
  // Returns false if too many wait.
  bool add(const LookupJob& job) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (waiting_.size() >= kMaxLookups) return false;
      waiting_.push_back(job);
      if (threads_ == kResolverThreads) return true;
      ++threads_;
    }
    try {
      // Detached, because the end of the program must not wait for a name server.
      std::thread([this] { run(); }).detach();
      return true;
    } catch (const std::system_error&) {  // the machine has no thread left; another one of ours may take the job
      MutexLock lock(mutex_);
      if (--threads_ > 0) return true;
      std::erase_if(waiting_, [&](const LookupJob& each) { return each.mailbox == job.mailbox; });
      return false;
    }
  }

 private:
  void run() EXCLUDES(mutex_) {
    pthread_setname_np(pthread_self(), "resolver");
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (;;) {
      LookupJob job;
      {
        MutexLock lock(mutex_);
        if (waiting_.empty()) {
          --threads_;
          return;
        }
        job = std::move(waiting_.front());
        waiting_.pop_front();
      }
      if (job.mailbox->wanted()) job.mailbox->answer(look_up(job.url), job.mailbox);
    }
  }

  Mutex mutex_;
  std::deque<LookupJob> waiting_ GUARDED_BY(mutex_);
  std::size_t threads_ GUARDED_BY(mutex_) = 0;
};

// Never destroyed, because its detached threads may outlive main().
LookupThreads& lookup_threads() {
  static auto* threads = new LookupThreads;
  return *threads;
}

std::uint16_t port_number(const Url& url) {
  return static_cast<std::uint16_t>(std::stoul(url.port));
}

}  // namespace

std::string Address::host() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (!is_v6()) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, text.data(), text.size());
    return text.data();
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    inet_ntop(AF_INET, &v6.s6_addr[12], text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, &v6, text.data(), text.size());
  }
  return text.data();
}

std::string Address::text() const {
  std::string name = host();
  std::uint16_t port = ntohs(is_v6() ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                                     : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  return (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + std::to_string(port);
}

std::optional<Address> literal_address(const Url& url) {
  Address address;
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  if (inet_pton(AF_INET, url.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port_number(url));
    address.size = sizeof v4;
    return address;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (inet_pton(AF_INET6, url.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port_number(url));
    address.size = sizeof v6;
    return address;
  }
  return std::nullopt;
}

Lookup::Lookup(EventLoop& loop, Done done) : mailbox_(std::make_shared<Mailbox>()) {
  MutexLock lock(mailbox_->mutex);
  mailbox_->loop = &loop;
  mailbox_->done = std::move(done);
}

Lookup::Lookup(EventLoop& loop, std::vector<Address> known, Done done) : Lookup(loop, std::move(done)) {
  mailbox_->answer(std::move(known), mailbox_);
}

Lookup::Lookup(EventLoop& loop, const Url& url, Done done) : Lookup(loop, std::move(done)) {
  if (auto literal = literal_address(url)) {
    mailbox_->answer(std::vector{*literal}, mailbox_);
  } else if (!lookup_threads().add({url, mailbox_})) {
    mailbox_->answer(not_found(url, "too many names are being looked up, or the machine has no free thread"), mailbox_);
  }
}

Lookup::~Lookup() {
  MutexLock lock(mailbox_->mutex);
  mailbox_->loop = nullptr;
}

bool Lookup::Mailbox::wanted() {
  MutexLock lock(mutex);
  return loop != nullptr;
}

void Lookup::Mailbox::answer(Result<std::vector<Address>> found, const std::shared_ptr<Mailbox>& self) {
  MutexLock lock(mutex);  // held while posting, so that the loop cannot be destroyed meanwhile
  if (loop == nullptr) return;
  loop->post([self, found = std::move(found)]() mutable {
    if (self->wanted()) self->done(std::move(found));
  });
}

}  // namespace shepherd::net
