#include "bench/nchan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "bench/launch.h"

namespace shepherd::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kNchanReadySeconds = 10;
constexpr std::string_view kPackages = "nginx-light libnginx-mod-nchan";
constexpr const char* kModule = "/usr/lib/nginx/modules/ngx_nchan_module.so";

// Keeps messages as long as Shepherd's hub does, so that a consumer that lags a little loses none.
constexpr std::string_view kConfiguration = R"(load_module {module};
{user}
worker_processes 1;
daemon off;
pid {dir}/nginx.pid;
error_log {dir}/error.log;
events {{ worker_connections 20000; }}
http {{
  access_log off;
  tcp_nodelay on;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_body_buffer_size 1m;
  client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/proxy;
  fastcgi_temp_path {dir}/fastcgi;
  uwsgi_temp_path {dir}/uwsgi;
  scgi_temp_path {dir}/scgi;
  nchan_shared_memory_size 512m;
  nchan_message_buffer_length 1000;
  nchan_message_timeout 5m;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location ~ ^/publish/(.+)$ {{ nchan_publisher; nchan_channel_id $1; }}
    location ~ ^/subscribe/(.+)$ {{
      nchan_subscriber websocket eventsource;
      nchan_channel_id $1;
      nchan_subscriber_first_message oldest;
    }}
  }}
}}
)";

}  // namespace

Result<Nchan> Nchan::start(const fs::path& directory, int core) {
  Result<std::string> program = find_program("nginx", std::string(kPackages));
  if (!program) return fail(program.error());
  if (!fs::exists(kModule)) {
    return fail(ErrorCode::not_found, "not_installed",
                fmt::format("nginx has no nchan module; on Debian: apt-get install {}", kPackages));
  }
  Result<std::uint16_t> port = free_port();
  if (!port) return fail(port.error());
  fs::path file = directory / "nginx.conf";
  std::ofstream(file) << fmt::format(kConfiguration, fmt::arg("module", kModule), fmt::arg("dir", directory.string()),
                                     fmt::arg("port", *port),
                                     fmt::arg("user", geteuid() == 0 ? "user root root;" : ""));
  Result<Process> process = Process::start({.arguments = {*program, "-p", directory.string(), "-c", file.string()},
                                            .error_file = (directory / "stderr.log").string(),
                                            .core = core});
  if (!process) return fail(process.error());
  if (Result<void> ready = wait_for_port(*process, *port, kNchanReadySeconds); !ready) return fail(ready.error());
  return Nchan(std::move(*process), *port);
}

Result<LoadPlan> Nchan::plan(const Shape& shape) {
  std::vector<std::string> publish, subscribe;
  for (std::size_t i = 0; i < shape.channels; ++i) {
    std::string name = fmt::format("bench-{:06}", ++made_);
    publish.push_back("/publish/" + name);
    subscribe.push_back("/subscribe/" + name);
  }
  wire_ = std::make_unique<HttpWire>(at_, publish, "Content-Type: application/json\r\n");
  LoadPlan plan;
  plan.wire = wire_.get();
  plan.publish = {.at = at_, .count = shape.publishers, .channels = shape.channels, .batch = 1};
  plan.subscribe = {
      .at = at_, .transport = shape.transport, .count = shape.subscribers, .targets = subscribe, .headers = ""};
  plan.server = process_.pid();
  return plan;
}

}  // namespace shepherd::bench
