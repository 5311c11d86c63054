#include "bench/shepherd_server.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "bench/certificate.h"

namespace shepherd::bench {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr double kReadySeconds = 30;
constexpr std::size_t kLogEnd = 2'000;  // characters from the end of the server's log in an error

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string member(const json::value& object, std::string_view name) {
  const json::value* found = object.is_object() ? object.as_object().if_contains(name) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

std::vector<std::string> targets_of(const std::vector<std::string>& tasks, const std::string& query) {
  std::vector<std::string> targets;
  targets.reserve(tasks.size());
  for (const std::string& task : tasks) targets.push_back(fmt::format("/api/v1/tasks/{}/events{}", task, query));
  return targets;
}

}  // namespace

Result<ShepherdServer> ShepherdServer::start(const Options& options) {
  fs::path data = options.directory / "data", log = options.directory / "server.log";
  fs::path config = options.directory / "empty.yaml";
  std::ofstream(config) << "{}\n";  // ignores the configuration of the person who runs the bench
  Process::Options run{
      .arguments = {options.program, "serve", "--json", "--data", data.string(), "--config", config.string(),
                    "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0"},
      .error_file = log.string(),
      .core = options.core};
  if (options.tls) {
    Result<CertificateFiles> files = make_certificate(options.directory);
    if (!files) return fail(files.error());
    for (const std::string& each :
         {std::string("--tls-cert"), files->certificate.string(), std::string("--tls-key"), files->key.string()}) {
      run.arguments.push_back(each);
    }
  }
  run.arguments.insert(run.arguments.end(), options.arguments.begin(), options.arguments.end());
  Result<Process> process = Process::start(run);
  if (!process) return fail(process.error());

  ShepherdServer server(std::move(*process), data);
  while (server.token_.empty()) {
    Result<std::string> line = server.process_.read_line(kReadySeconds);
    if (!line) {
      std::string text = read_text(log);
      if (text.size() > kLogEnd) text.erase(0, text.size() - kLogEnd);
      return fail(ErrorCode::unavailable, "not_started",
                  fmt::format("the server did not start: {}\n{}", line.error().message, text));
    }
    boost::system::error_code error;
    json::value value = json::parse(*line, error);
    if (error || member(value, "event") != "ready") continue;
    Result<Address> open = parse_url(member(value, "public")), internal = parse_url(member(value, "internal"));
    if (!open) return fail(open.error());
    if (!internal) return fail(internal.error());
    server.open_ = *open;
    server.internal_ = *internal;
    server.grpc_ = member(value, "grpc");
    server.token_ = read_text(member(value, "adminTokenFile"));
    while (!server.token_.empty() && server.token_.back() <= ' ') server.token_.pop_back();
    if (server.token_.empty()) {
      return fail(ErrorCode::unavailable, "not_started", "the server's admin token cannot be read");
    }
  }
  return server;
}

Result<HttpAnswer> ShepherdServer::get(const std::string& target) {
  return http_call(open_, {.target = target, .headers = authorization()});
}

Result<std::vector<HttpAnswer>> ShepherdServer::internal_calls(std::vector<HttpRequest> requests) {
  for (HttpRequest& request : requests) request.headers += authorization();
  return http_calls(internal_, requests);
}

Result<std::vector<std::string>> ShepherdServer::create_tasks(std::size_t count, std::size_t context_bytes) {
  constexpr std::size_t kBytesAtOnce = 64 << 20;
  std::string context(context_bytes, 'x');
  std::vector<std::string> tasks;
  while (tasks.size() < count) {
    std::vector<HttpRequest> requests;
    while (tasks.size() < count && (requests.empty() || requests.size() * context_bytes < kBytesAtOnce)) {
      tasks.push_back(fmt::format("bench-{:06}", ++made_));
      requests.push_back(
          {"POST", "/api/v1/tasks", authorization() + "Content-Type: application/json\r\n",
           fmt::format(R"({{"id":"{}","task":{{"description":"bench","context":"{}"}}}})", tasks.back(), context)});
    }
    Result<std::vector<HttpAnswer>> answers = http_calls(open_, requests);
    if (!answers) return fail(answers.error());
    for (const HttpAnswer& answer : *answers) {
      if (answer.status == 201) continue;
      return fail(ErrorCode::unavailable, "refused",
                  fmt::format("making a task was answered {}: {}", answer.status, answer.body.substr(0, 300)));
    }
  }
  return tasks;
}

Result<double> ShepherdServer::metric(const std::string& name) {
  Result<HttpAnswer> answer = get("/metrics");
  if (!answer) return fail(answer.error());
  std::istringstream lines(answer->body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " ")) return std::strtod(line.c_str() + name.size(), nullptr);
  }
  return 0;
}

std::uint64_t ShepherdServer::store_bytes() const {
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const char* name : {"shepherd.db", "shepherd.db-wal", "shepherd.db-shm"}) {
    std::uintmax_t size = fs::file_size(data_ / name, ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

SubscribePlan ShepherdServer::subscribe(const std::vector<std::string>& tasks, std::size_t count, Transport transport,
                                        const std::string& query) const {
  return {.at = open_,
          .transport = transport,
          .count = count,
          .targets = targets_of(tasks, query),
          .headers = authorization()};
}

LoadPlan ShepherdServer::plan_for(const std::vector<std::string>& tasks, const Shape& shape) {
  std::string type = shape.batch > 1 ? "application/x-ndjson" : "application/json";
  wire_ =
      std::make_unique<HttpWire>(internal_, targets_of(tasks, ""), authorization() + "Content-Type: " + type + "\r\n");
  LoadPlan plan;
  plan.wire = wire_.get();
  plan.publish = {.at = internal_, .count = shape.publishers, .channels = tasks.size(), .batch = shape.batch};
  plan.subscribe = subscribe(tasks, shape.subscribers, shape.transport);
  plan.server = pid();
  return plan;
}

Result<LoadPlan> ShepherdServer::plan(const Shape& shape) {
  Result<std::vector<std::string>> tasks = create_tasks(shape.channels);
  if (!tasks) return fail(tasks.error());
  return plan_for(*tasks, shape);
}

}  // namespace shepherd::bench
