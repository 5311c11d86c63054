#include "host/server.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "access/access.h"
#include "access/audit.h"
#include "api/api.h"
#include "api/host_check.h"
#include "base/lane_set.h"
#include "base/log.h"
#include "base/random.h"
#include "bus/bus.h"
#include "client/find_server.h"
#include "config/exposure.h"
#include "follow/inbox.h"
#include "follow/indexer.h"
#include "follow/ledger_keeper.h"
#include "follow/leftovers.h"
#include "host/chat_host.h"
#include "host/data_lock.h"
#include "host/limits.h"
#include "host/retention_loop.h"
#include "host/version.h"
#include "hub/hub.h"
#include "journal/journal.h"
#include "net/limits.h"
#include "net/server.h"
#include "outbound/callback_secret.h"
#include "outbound/post_callback.h"
#include "rpc/rpc_server.h"
#include "steering/steering.h"
#include "store/search_sqlite/sqlite_search_index.h"
#include "store/sqlite/sqlite_ledger.h"
#include "store/sqlite/sqlite_store.h"
#include "views/process_metrics.h"

namespace shepherd {

// Taken in this order and released in reverse.
struct DirectoryLocks {
  std::optional<DataLock> serve;  // taken by `serve`; asks a hosting run to hand the directory over
  DataLock server;
};

namespace {

// On this machine, clients reach a server bound to every address by the loopback address.
std::string local_url(std::string url) {
  for (auto [any, loopback] : {std::pair{"://0.0.0.0:", "://127.0.0.1:"}, std::pair{"://[::]:", "://[::1]:"}}) {
    if (std::size_t at = url.find(any); at != std::string::npos) {
      url.replace(at, std::string_view(any).size(), loopback);
    }
  }
  return url;
}

// Every connection is a descriptor, and the usual soft limit of 1,024 is for programs that use select().
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t io_thread_count(const Config& config) {
  if (config.io_threads > 0) return static_cast<std::size_t>(config.io_threads);
  // Counts only the cores that this process may use, which a container or taskset may limit.
  cpu_set_t cores;
  CPU_ZERO(&cores);
  int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
  return std::clamp<std::size_t>(static_cast<std::size_t>(count), 1, kMaxIoThreads);
}

ApiConfig api_config(const Config& config) {
  ApiConfig api;
  api.public_listener = {config.public_port.auth != "none", false, config.public_port.hosts, config.public_port.origins,
                         config.chat_cors_origins};
  api.internal_listener = {config.internal.auth != "none", config.internal.trusted_network, config.internal.hosts, {}};
  api.allow_token_parameter = config.allow_query_token;
  api.metrics_open = config.metrics_open;
  api.keep_detail = config.keep_detail;
  api.redact = config.redact.enabled;
  api.version = kVersion;
  return api;
}

Result<DirectoryLocks> take_directory(const std::string& directory, ServerKind kind) {
  if (kind == ServerKind::run) {
    if (DataLock::holder(directory, LockKind::serve)) {
      return fail(ErrorCode::conflict, "data_in_use",
                  fmt::format("a \"shepherd serve\" is about to use the data directory {}", directory));
    }
    Result<DataLock> lock = DataLock::take(directory);
    if (!lock) return fail(lock.error());
    return DirectoryLocks{std::nullopt, *std::move(lock)};
  }
  Result<DataLock> serve = DataLock::take(directory, LockKind::serve);
  if (!serve && serve.error().reason == "data_in_use") return fail(serve.error());
  SystemClock clock;
  std::int64_t until_ms = clock.steady_ms() + kHandOverWait.count();
  for (bool first = true;; first = false) {
    Result<DataLock> lock = DataLock::take(directory);
    if (lock) {
      // Without the file (on a full disk) runs still find the directory taken.
      return DirectoryLocks{serve ? std::optional(*std::move(serve)) : std::nullopt, *std::move(lock)};
    }
    if (lock.error().reason != "data_in_use" || clock.steady_ms() > until_ms) return fail(lock.error());
    if (first) log_info("a run hosts the data directory {}; waiting for it to hand it over", directory);
    std::this_thread::sleep_for(kHandOverLook);
  }
}

}  // namespace

// Created in this order and destroyed in reverse.
struct Server::Impl {
  Impl(const Config& given, DirectoryLocks taken) : config(given), locks(std::move(taken)), condense(given.condense) {}

  Config config;
  DirectoryLocks locks;
  CondenseRules condense;
  SystemClock clock;
  SystemRandom random;
  MetricRegistry metrics;
  std::unique_ptr<Lanes> lanes;
  std::unique_ptr<net::IoThreads> io;
  std::unique_ptr<EventStore> store;
  std::unique_ptr<SearchIndex> search;
  std::unique_ptr<Indexer> indexer;
  std::unique_ptr<Ledger> ledger;
  std::unique_ptr<LedgerKeeper> ledger_keeper;
  std::unique_ptr<Bus> bus;
  std::unique_ptr<Hub> hub;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<Leftovers> leftovers;
  std::unique_ptr<RetentionLoop> retention;
  std::optional<Redactor> redactor;
  std::unique_ptr<Access> access;
  std::unique_ptr<Audit> audit;
  std::shared_ptr<const Principal> admin;
  std::unique_ptr<HttpPoster> poster;
  std::unique_ptr<Steering> steering;
  std::unique_ptr<Inbox> inbox;
  std::unique_ptr<ChatHost> chat;  // null without a model
  std::unique_ptr<Api> api;
  std::unique_ptr<net::HttpServer> open;
  std::unique_ptr<net::HttpServer> internal;
  std::unique_ptr<RpcServer> rpc;

  ServerRecord record;
  bool announced = false, announce_failed = false;

  // Without the announcement (on a full disk) the server is still useful; it tries again later.
  void announce();
  std::string file(std::string_view name) const { return fmt::format("{}/{}", config.data, name); }
  Result<void> open_store();
  Result<void> open_access();
  Result<void> open_steering();
  Result<void> open_chat();
  Result<void> listen();
  Result<void> listen_rpc();
  void stop();
};

Result<void> Server::Impl::open_store() {
  Result<std::unique_ptr<SqliteStore>> opened = SqliteStore::open(file("shepherd.db"));
  if (!opened) return fail(opened.error());
  store = *std::move(opened);
  auto heads = store->heads({""});
  if (!heads) return fail(heads.error());
  Result<std::unique_ptr<SearchIndex>> index = open_sqlite_search_index(file("search.db"), (*heads)[""]);
  if (!index) return fail(index.error());
  search = *std::move(index);
  indexer = std::make_unique<Indexer>(*store, *search, metrics);
  Result<std::unique_ptr<Ledger>> books = open_sqlite_ledger(file("ledger.db"), (*heads)[""]);
  if (!books) return fail(books.error());
  ledger = *std::move(books);
  ledger_keeper = std::make_unique<LedgerKeeper>(*store, *ledger, metrics, clock,
                                                 LedgerPolicy{config.stats_days, config.stats_bytes});
  bus = std::make_unique<NoBus>();
  hub = std::make_unique<Hub>(clock, metrics, static_cast<std::size_t>(config.observability_buffer_size));
  lanes = std::make_unique<Lanes>(metrics);
  journal = std::make_unique<Journal>(*store, *hub, *bus, lanes->feeds, clock, metrics);
  journal->on_change([this] {
    indexer->wake();
    ledger_keeper->wake();
  });
  retention = std::make_unique<RetentionLoop>(*journal, RetentionPolicy{config.retention_days, config.retention_bytes},
                                              clock, lanes->background, indexer.get());
  Result<std::unique_ptr<Leftovers>> removing = Leftovers::open(*journal, lanes->background);
  if (!removing) return fail(removing.error());
  leftovers = *std::move(removing);
  return {};
}

Result<void> Server::Impl::open_access() {
  Result<std::unique_ptr<Access>> tokens = Access::open(*journal, clock, random);
  if (!tokens) return fail(tokens.error());
  access = *std::move(tokens);
  if (Result<void> following = access->follow(lanes->feeds); !following) return fail(following.error());
  Result<std::string> secret = ensure_admin_token(*access, file(kAdminTokenFile));
  if (!secret) return fail(secret.error());
  Result<std::shared_ptr<const Principal>> principal = access->authenticate(*secret);
  if (!principal) return fail(principal.error());
  admin = *std::move(principal);
  Result<std::unique_ptr<Audit>> written = Audit::open(config.data, metrics);
  if (!written) return fail(written.error());
  audit = *std::move(written);
  return {};
}

Result<void> Server::Impl::open_steering() {
  io = std::make_unique<net::IoThreads>(io_thread_count(config));
  poster = std::make_unique<HttpPoster>(io->loop(io->size() - 1));
  SteeringParts parts{*journal,    lanes->feeds, clock, random, metrics, config.redact.enabled ? &*redactor : nullptr,
                      poster.get()};
  SteeringConfig settings = config.steering;
  std::string secret_file =
      settings.callbacks.secret_file.empty() ? file(kCallbackSecretFile) : settings.callbacks.secret_file;
  Result<std::string> secret = ensure_callback_secret(secret_file, random);
  if (!secret) return fail(secret.error());
  settings.callbacks.secret = *std::move(secret);
  Result<std::unique_ptr<Steering>> opened = Steering::open(parts, std::move(settings));
  if (!opened) return fail(opened.error());
  steering = *std::move(opened);
  Result<std::unique_ptr<Inbox>> needs =
      Inbox::open(*journal, lanes->queries, clock, std::chrono::seconds(config.stalled_seconds));
  if (!needs) return fail(needs.error());
  inbox = *std::move(needs);
  return {};
}

Result<void> Server::Impl::open_chat() {
  if (config.models.empty()) return {};
  ChatHostParts parts{
      *journal, *steering,   io->loop(0), lanes->feeds, clock, random, config.redact.enabled ? &*redactor : nullptr,
      condense, search.get()};
  Result<std::unique_ptr<ChatHost>> opened = ChatHost::open(parts, config);
  if (!opened) return fail(opened.error());
  chat = *std::move(opened);
  return {};
}

Result<void> Server::Impl::listen() {
  api = std::make_unique<Api>(ApiParts{
      *journal, *steering, search.get(), indexer.get(), inbox.get(), ledger_keeper.get(), *access, *audit, metrics,
      clock, random, *redactor, condense, *lanes, api_config(config), chat == nullptr ? nullptr : &chat->chats(),
      chat == nullptr ? nullptr : &io->loop(0), chat == nullptr ? nullptr : &chat->completions()});
  auto bind = [&](const PortConfig& port, const char* name, net::HttpHandler& handler) {
    net::ListenOptions options;
    options.address = port.listen;
    options.tls = {port.tls_cert, port.tls_key};
    options.max_connections = kMaxConnections;
    options.name = name;
    return net::HttpServer::listen(*io, std::move(options), handler, clock, metrics);
  };
  auto bound = bind(config.public_port, "public", api->public_handler());
  if (!bound) return fail(bound.error());
  open = *std::move(bound);
  bound = bind(config.internal, "internal", api->internal_handler());
  if (!bound) return fail(bound.error());
  internal = *std::move(bound);
  return {};
}

Result<void> Server::Impl::listen_rpc() {
  if (config.grpc.listen == kNoListen) return {};
  RpcParts needs{*journal, *access, *audit, metrics, clock, *lanes, {}};
  for (std::size_t i = 0; i < io->size(); ++i) needs.executors.push_back(&io->executor(i));
  auto listening = RpcServer::listen(std::move(needs), {config.grpc.listen, config.grpc.tls_cert, config.grpc.tls_key,
                                                        config.public_port.auth != "none"});
  if (listening) {
    rpc = *std::move(listening);
    return {};
  }
  // The address is the default one and another server has it; this one works without gRPC.
  if (config.grpc_required || listening.error().reason != "cannot_listen") return fail(listening.error());
  log_warn("{}; going on without gRPC", listening.error().message);
  return {};
}

void Server::Impl::announce() {
  Result<void> written = write_server_record(config.data, record);
  if (!written && !std::exchange(announce_failed, true)) {
    log_warn("{}; until then programs on this machine need --url {} --internal-url {}", written.error().message,
             record.public_url, record.internal_url);
  }
  announced = written.has_value();
}

void Server::Impl::stop() {
  if (chat) chat->stop();          // ends the turns, so that their requests are answered before the drain
  if (steering) steering->stop();  // first, because waiting claims would delay the drain
  if (inbox) inbox->stop();
  rpc.reset();
  if (open && internal) {
    std::thread other([this] { internal->shutdown(kDrainDeadline.count()); });
    open->shutdown(kDrainDeadline.count());
    other.join();
  } else if (open) {
    open->shutdown(0);  // the other address could not be bound
  }
  if (retention) retention->stop();
  if (leftovers) leftovers->stop();
  if (journal) journal->drain();
  internal.reset();
  open.reset();
  api.reset();  // waits for active calls, so lanes and journal still run
  chat.reset();
  steering.reset();
  if (access) access->stop_following();
  lanes.reset();  // joins; from here on no other thread reads the store
  if (io) io->stop();
}

Result<std::unique_ptr<Server>> Server::start(const Config& config, ServerKind kind) {
  if (config.data.empty()) {
    return fail(ErrorCode::invalid_argument, "no_data_directory",
                "no data directory: HOME is not set; give --data DIR or set SHEPHERD_DATA");
  }
  if (Result<void> safe = check_exposure(config); !safe) return fail(safe.error());
  Result<Redactor> redactor = Redactor::create(config.redact);
  if (!redactor) return fail(redactor.error());
  if (Result<void> made = make_data_directory(config.data); !made) return fail(made.error());
  Result<DirectoryLocks> locks = take_directory(config.data, kind);
  if (!locks) return fail(locks.error());
  raise_descriptor_limit();

  auto impl = std::make_unique<Impl>(config, *std::move(locks));
  impl->redactor.emplace(*std::move(redactor));
  register_process_metrics(impl->metrics);
  std::unique_ptr<Server> server(new Server(std::move(impl)));  // from here on a failure stops the started parts
  Impl& made = *server->impl_;
  if (Result<void> opened = made.open_store(); !opened) return fail(opened.error());
  if (Result<void> opened = made.open_access(); !opened) return fail(opened.error());
  if (Result<void> opened = made.open_steering(); !opened) return fail(opened.error());
  if (Result<void> opened = made.open_chat(); !opened) return fail(opened.error());
  if (Result<void> listening = made.listen(); !listening) return fail(listening.error());
  if (Result<void> listening = made.listen_rpc(); !listening) return fail(listening.error());
  ServerRecord record{server->public_url(), server->internal_url(), getpid(), made.clock.wall_ms(),
                      kind == ServerKind::serve};
  made.record = std::move(record);
  made.announce();
  return server;
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  std::remove(impl_->file(kServerRecordFile).c_str());
  impl_->stop();
}

std::string Server::public_url() const {
  return local_url(impl_->open->url());
}

std::string Server::internal_url() const {
  return local_url(impl_->internal->url());
}

std::string Server::grpc_address() const {
  return impl_->rpc ? impl_->rpc->address() : std::string();
}

std::string Server::admin_token_file() const {
  return impl_->file(kAdminTokenFile);
}

std::string Server::page_url() const {
  std::string url = public_url();
  if (impl_->config.public_port.auth == "none" || !impl_->config.public_port.origins.empty()) return url;
  std::string own = own_name_url(std::string_view(url).substr(url.find("://") + 3), url.starts_with("https:"));
  return own.empty() ? url : own;
}

std::string Server::login_link() const {
  if (impl_->config.public_port.auth == "none") return public_url();
  Result<std::string> code = impl_->access->make_login_code(*impl_->admin);
  return code ? fmt::format("{}/login?code={}", page_url(), *code) : page_url();
}

void Server::tick() {
  if (!impl_->announced) impl_->announce();
  impl_->journal->tick();
  impl_->retention->tick();
  impl_->leftovers->tick();
  impl_->steering->tick();
  impl_->inbox->tick();
  if (impl_->chat) impl_->chat->tick();
  if (impl_->rpc) impl_->rpc->tick();
}

}  // namespace shepherd
