#include "app/run_host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "app/data_lock.h"
#include "app/limits.h"
#include "base/clock.h"
#include "base/log.h"
#include "client/limits.h"
#include "net/client.h"

namespace shepherd {

RunHost::RunHost(const Context& context, ServerOptions options, Config config)
    : environment_(context.environment), options_(std::move(options)), config_(std::move(config)) {
  named_ = !options_.url.empty() || !environment_("SHEPHERD_URL").empty();
}

Result<std::unique_ptr<RunHost>> RunHost::open(const Context& context, const ServerOptions& options,
                                               const Config& config) {
  std::unique_ptr<RunHost> host(new RunHost(context, options, config));
  if (host->named_) {
    if (!host->reachable()) {
      return fail(
          ErrorCode::unavailable, "unreachable",
          fmt::format("no server answers at {}; leave the address out to have this run host one itself", host->link()));
    }
    return host;
  }
  if (config.data.empty()) {
    return fail(ErrorCode::invalid_argument, "no_data_directory",
                "no data directory: HOME is not set; give --data DIR or set SHEPHERD_DATA");
  }
  if (Result<void> made = make_data_directory(config.data); !made) return fail(made.error());
  std::string path = config.data + "/runs.lock";
  host->users_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // A host that is on its way out holds it alone; its server is gone when we get it.
  if (host->users_ < 0 || flock(host->users_, LOCK_SH) != 0) {
    return fail(ErrorCode::permission_denied, "data_not_writable",
                fmt::format("cannot lock {}: {}", path, std::strerror(errno)));
  }
  if (Result<void> found = host->find_or_host(); !found) return fail(found.error());
  host->thread_ = std::thread([self = host.get()] { self->keep(); });
  return host;
}

RunHost::~RunHost() {
  if (thread_.joinable()) {
    // The lock changes from shared to exclusive when the last other holder is gone.
    while (hosting() && flock(users_, LOCK_EX | LOCK_NB) != 0) std::this_thread::sleep_for(kHostLook);
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  std::unique_ptr<Server> server;
  {
    MutexLock lock(mutex_);
    server = std::move(server_);
  }
  server.reset();  // before the lock goes, so that the next run finds a directory that is free
  if (users_ >= 0) close(users_);
}

Result<Destination> RunHost::locate() const {
  return find_server({options_.url, options_.internal_url, config_.data, hosting()}, environment_);
}

bool RunHost::reachable() const {
  Result<Destination> found = locate();
  if (!found) return false;
  Result<net::Url> url = net::parse_url(found->public_url);
  if (!url) return false;
  net::HttpClient client(*std::move(url), options_.tls());
  Result<net::ClientResponse> answer = client.request("GET", "/healthz", {}, "", kConnectTimeout);
  return answer && answer->status == 200;
}

// Three ways to have a server: it answers; nobody holds the directory, so we do; or somebody is just starting.
Result<void> RunHost::find_or_host() {
  SystemClock clock;
  std::int64_t until_ms = clock.steady_ms() + kHostWait.count();
  for (;;) {
    if (reachable()) return {};
    Result<void> hosted = host();
    if (hosted || hosted.error().reason != "data_in_use" || clock.steady_ms() > until_ms) return hosted;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<void> RunHost::host() {
  Result<std::unique_ptr<Server>> server = Server::start(config_);
  if (!server && server.error().reason == "address_in_use") {
    // Somebody else has the usual ports; everybody who needs us finds us through the data directory.
    Config elsewhere = config_;
    elsewhere.open.listen = elsewhere.internal.listen = elsewhere.grpc.listen = "127.0.0.1:0";
    server = Server::start(elsewhere);
  }
  if (!server) return fail(std::move(server.error()));
  MutexLock lock(mutex_);
  server_ = *std::move(server);
  return {};
}

void RunHost::keep() {
  for (;;) {
    Server* server = nullptr;
    {
      MutexLock lock(mutex_);
      if (!stopping_) changed_.wait_for(mutex_, server_ ? kServerTick : kHostLook);
      if (stopping_) return;
      server = server_.get();
    }
    if (server != nullptr) {
      server->tick();
    } else if (!DataLock::holder(config_.data)) {
      if (Result<void> hosted = host(); !hosted) {
        spdlog::debug("the server is gone and cannot be hosted here: {}", hosted.error().message);
      }
    }
  }
}

bool RunHost::hosting() const {
  MutexLock lock(mutex_);
  return server_ != nullptr;
}

bool RunHost::others_need_us() const {
  if (!hosting()) return false;
  bool alone = flock(users_, LOCK_EX | LOCK_NB) == 0;
  flock(users_, LOCK_SH);  // a try that failed has lost the lock as well
  return !alone;
}

std::string RunHost::link() const {
  {
    MutexLock lock(mutex_);
    if (server_) return server_->login_link();
  }
  Result<Destination> found = locate();
  return found ? found->public_url : options_.url;
}

}  // namespace shepherd
