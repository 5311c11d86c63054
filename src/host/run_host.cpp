#include "host/run_host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "api/host_check.h"
#include "base/clock.h"
#include "base/log.h"
#include "client/limits.h"
#include "host/data_lock.h"
#include "host/limits.h"
#include "net/client.h"

namespace shepherd {

RunHost::RunHost(Environment environment, ServerOptions options, Config config)
    : environment_(std::move(environment)), options_(std::move(options)), config_(std::move(config)) {
  named_ = !options_.url.empty() || !environment_("SHEPHERD_URL").empty();
}

Result<std::unique_ptr<RunHost>> RunHost::open(const Environment& environment, Output& notices,
                                               const ServerOptions& options, const Config& config) {
  std::unique_ptr<RunHost> host(new RunHost(environment, options, config));
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
  // A host that shuts down holds the lock exclusively; its server is gone once we get it.
  if (host->users_ < 0 || flock(host->users_, LOCK_SH) != 0) {
    return fail(ErrorCode::permission_denied, "data_not_writable",
                fmt::format("cannot lock {}: {}", path, std::strerror(errno)));
  }
  if (Result<void> found = host->find_or_host(notices); !found) return fail(found.error());
  host->thread_ = std::thread([self = host.get()] { self->keep(); });
  return host;
}

RunHost::~RunHost() {
  if (thread_.joinable()) {
    // The lock changes from shared to exclusive once the last other holder is gone.
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
  server.reset();  // before the lock is released, so that the next run finds a free directory
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

// There are three ways to a server: one answers, the directory is free and we host, or another process is just
// starting. A killed `serve` still owns the directory.
Result<void> RunHost::find_or_host(Output& notices) {
  SystemClock clock;
  std::int64_t until_ms = clock.steady_ms() + kHostWait.count();
  for (bool said = false;; std::this_thread::sleep_for(kHandOverLook)) {
    bool answers = reachable();
    Result<ServerRecord> record = read_server_record(config_.data);
    if (record) {
      served_ = record->serve;
      served_at_ = record->public_url;
    }
    if (answers) return {};
    bool late = clock.steady_ms() > until_ms;
    if (served_ && !DataLock::holder(config_.data)) {
      if (late) {
        return fail(ErrorCode::unavailable, "server_away",
                    fmt::format("the \"shepherd serve\" of {}, at {}, is not running; start it again, or remove {}/{} "
                                "if it is not to come back",
                                config_.data, served_at_, config_.data, kServerRecordFile));
      }
      if (!std::exchange(said, true)) {
        notices.line(notices.paint(
            Color::yellow, fmt::format("-- waiting for \"shepherd serve\" at {}, which is not running", served_at_)));
        notices.flush();
      }
      continue;
    }
    Result<void> hosted = host();
    if (hosted || hosted.error().reason != "data_in_use" || late) return hosted;
  }
}

Result<void> RunHost::host() {
  Result<std::unique_ptr<Server>> server = Server::start(config_, ServerKind::run);
  if (!server && server.error().reason == "address_in_use") {
    // Another program has the default ports; clients find this server through the data directory.
    Config elsewhere = config_;
    elsewhere.public_port.listen = elsewhere.internal.listen = elsewhere.grpc.listen = "127.0.0.1:0";
    server = Server::start(elsewhere, ServerKind::run);
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
    if (server == nullptr) {
      look();
    } else if (DataLock::holder(config_.data, LockKind::serve)) {
      hand_over();
    } else {
      server->tick();
    }
  }
}

void RunHost::hand_over() {
  std::unique_ptr<Server> leaving;
  {
    MutexLock lock(mutex_);
    leaving = std::move(server_);
  }
  tell("a \"shepherd serve\" has started and takes the server over; this run goes on with it");
  leaving.reset();
}

// Not hosting: checks whether there is a server and, if not, whether this run may host.
void RunHost::look() {
  bool held = DataLock::holder(config_.data).has_value();
  if (Result<ServerRecord> record = read_server_record(config_.data)) {
    served_ = record->serve;
    served_at_ = record->public_url;
  }
  if (held) {
    if (away_ && reachable()) {
      away_ = false;
      tell(fmt::format("the server is back, at {}", served_at_));
    }
    return;
  }
  if (served_) {
    if (!std::exchange(away_, true)) {
      tell(
          fmt::format("the server at {} is away; the run goes on, and what it says waits on disk until \"shepherd "
                      "serve\" is back",
                      served_at_));
    }
    return;
  }
  if (Result<void> hosted = host(); !hosted) {
    spdlog::debug("the server is gone and cannot be hosted here: {}", hosted.error().message);
  }
}

void RunHost::tell(std::string text) {
  MutexLock lock(mutex_);
  if (news_.size() < kMaxHostNews) news_.push_back(std::move(text));
}

std::optional<std::string> RunHost::news() {
  MutexLock lock(mutex_);
  if (news_.empty()) return std::nullopt;
  std::string text = std::move(news_.front());
  news_.pop_front();
  return text;
}

bool RunHost::hosting() const {
  MutexLock lock(mutex_);
  return server_ != nullptr;
}

bool RunHost::others_need_us() const {
  if (!hosting()) return false;
  bool alone = flock(users_, LOCK_EX | LOCK_NB) == 0;
  flock(users_, LOCK_SH);  // a failed attempt has also released the lock
  return !alone;
}

std::string RunHost::link() const {
  {
    MutexLock lock(mutex_);
    if (server_) return server_->login_link();
  }
  Result<Destination> found = locate();
  if (!found) return options_.url;
  // A browser signs in under that name (host_check.h).
  const std::string& url = found->public_url;
  std::string own = own_name_url(std::string_view(url).substr(url.find("://") + 3), url.starts_with("https:"));
  return own.empty() ? url : own;
}

}  // namespace shepherd
