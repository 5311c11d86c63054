#include "client/find_server.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "net/client.h"

namespace shepherd {
namespace {

namespace json = boost::json;

// Returns an empty text if the file cannot be read.
std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ' || text.back() == '/')) {
    text.pop_back();
  }
  return text;
}

// People write localhost or copy the page's address; servers record 127.0.0.1.
std::string as_address(std::string url) {
  for (std::string_view name : {"://localhost:", "://shepherd.localhost:"}) {
    if (std::size_t at = url.find(name); at != std::string::npos) return url.replace(at, name.size(), "://127.0.0.1:");
  }
  return url;
}

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::int64_t number_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

}  // namespace

Environment process_environment() {
  return [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
}

Result<std::string> default_data_directory(const Environment& environment) {
  if (std::string data = environment("SHEPHERD_DATA"); !data.empty()) return data;
  if (std::string xdg = environment("XDG_DATA_HOME"); !xdg.empty()) return xdg + "/shepherd";
  if (std::string home = environment("HOME"); !home.empty()) return home + "/.local/share/shepherd";
  return fail(ErrorCode::invalid_argument, "no_data_directory",
              "no data directory: HOME is not set; give --data DIR or set SHEPHERD_DATA");
}

Result<ServerRecord> read_server_record(const std::string& directory) {
  std::string path = directory + "/" + kServerRecordFile;
  std::string text = file_text(path);
  if (text.empty()) {
    return fail(ErrorCode::not_found, "no_server", fmt::format("no server has announced itself in {}", directory));
  }
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  ServerRecord record;
  if (!error && value.is_object()) {
    record.public_url = text_of(value.get_object(), "public");
    record.internal_url = text_of(value.get_object(), "internal");
    record.pid = number_of(value.get_object(), "pid");
    record.started_ms = number_of(value.get_object(), "startedMS");
    record.serve = text_of(value.get_object(), "by") == "serve";
  }
  if (record.public_url.empty()) {
    return fail(ErrorCode::invalid_argument, "bad_server_record",
                fmt::format("{} is not a server's record; remove it and start the server again", path));
  }
  return record;
}

Result<void> write_server_record(const std::string& directory, const ServerRecord& record) {
  std::string path = directory + "/" + kServerRecordFile;
  std::string fresh = path + ".new";
  json::object object{{"public", record.public_url},
                      {"internal", record.internal_url},
                      {"pid", record.pid},
                      {"startedMS", record.started_ms},
                      {"by", record.serve ? "serve" : "run"}};
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << json::serialize(object) << '\n';
    file.close();
    if (!file) {
      return fail(ErrorCode::unavailable, "cannot_write",
                  fmt::format("cannot write {}: {}; check free space and permissions", fresh, std::strerror(errno)));
    }
  }
  std::error_code error;
  std::filesystem::rename(fresh, path, error);
  if (error) {
    return fail(ErrorCode::unavailable, "cannot_write", fmt::format("cannot replace {}: {}", path, error.message()));
  }
  return {};
}

Result<Destination> find_server(const FindOptions& options, const Environment& environment) {
  std::string directory = options.data_directory;
  if (directory.empty()) {
    // Without a home directory there is no local server, but a URL from the environment still works.
    directory = default_data_directory(environment).value_or("");
  }
  Result<ServerRecord> local = read_server_record(directory);

  Destination found;
  found.token = environment("SHEPHERD_TOKEN");
  std::string url = trimmed(options.url.empty() ? environment("SHEPHERD_URL") : options.url);
  std::string internal =
      trimmed(options.internal_url.empty() ? environment("SHEPHERD_INTERNAL_URL") : options.internal_url);
  bool is_local = local &&
                  (url.empty() || as_address(url) == local->public_url || as_address(url) == local->internal_url) &&
                  (internal.empty() || as_address(internal) == local->internal_url);
  if (is_local) {
    found.public_url = local->public_url;
    found.internal_url = local->internal_url;
    if (!found.token.empty()) return found;
    if (std::string task = environment("SHEPHERD_TASK_ID"); !task.empty() && !options.own_server) {
      found.no_token = fmt::format(
          "this is inside the task {} (SHEPHERD_TASK_ID), where the admin token of this machine is not used, so that "
          "an "
          "agent cannot approve its own requests; if it is meant to call the server, give it a token of its own in "
          "SHEPHERD_TOKEN (\"shepherd token create NAME\")",
          task);
      return found;
    }
    found.token = trimmed(file_text(directory + "/" + kAdminTokenFile));
    return found;
  }
  if (url.empty() && !local) {
    if (local.error().code != ErrorCode::not_found) return fail(local.error());
    return fail(ErrorCode::unavailable, "no_server",
                fmt::format("no server is running for {}; start one with \"shepherd serve\" or set SHEPHERD_URL",
                            directory.empty() ? "this machine" : directory));
  }
  if (url.empty()) url = local->public_url;
  if (Result<net::Url> parsed = net::parse_url(url); !parsed) {
    return fail(ErrorCode::invalid_argument, "bad_url",
                fmt::format("\"{}\" is not a server's address; it looks like http://127.0.0.1:8080", url));
  }
  found.public_url = url;
  // A remote server accepts events on its internal port; if none is given, the one address serves both.
  found.internal_url = internal.empty() ? url : internal;
  return found;
}

}  // namespace shepherd
