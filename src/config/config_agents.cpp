#include "config/config_agents.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <vector>

#include "config/limits.h"
#include "config/nearest_word.h"
#include "driver/grpc/dialect.h"
#include "driver/registry/known_agent.h"
#include "driver/registry/registry.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

namespace json = boost::json;

constexpr std::string_view kHidden = "(not shown)";
constexpr std::string_view kService = "grpc";  // the driver of agents that are reached at an address

struct Wrong {
  std::string message;
};

std::string text(const YAML::Node& node, std::string_view name) {
  if (!node.IsScalar()) throw Wrong{fmt::format("\"{}\" must be a single value", name)};
  return node.Scalar();
}

void check_names(const YAML::Node& map, const std::vector<std::string>& known, std::string_view where) {
  for (const auto& pair : map) {
    auto name = text(pair.first, "a name");
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string near = nearest_word(name, known);
    throw Wrong{fmt::format("{} has no \"{}\"{}", where, name,
                            near.empty() ? fmt::format("; it has {}", fmt::join(known, ", "))
                                         : fmt::format("; did you mean \"{}\"?", near))};
  }
}

void read_tls(const YAML::Node& node, RemoteAgent& agent) {
  if (node.IsScalar()) {
    const std::string& word = node.Scalar();
    if (word != "true" && word != "false") throw Wrong{"\"tls\" is true, false or {ca, cert, key, server_name}"};
    agent.tls = word == "true";
    return;
  }
  if (!node.IsMap()) throw Wrong{"\"tls\" is true, false or {ca, cert, key, server_name}"};
  check_names(node, {"ca", "cert", "key", "server_name"}, "tls");
  agent.tls = true;
  auto member = [&](const char* name, std::string& into) {
    if (node[name]) into = text(node[name], name);
  };
  member("ca", agent.ca_file);
  member("cert", agent.cert_file);
  member("key", agent.key_file);
  member("server_name", agent.server_name);
  if (agent.cert_file.empty() != agent.key_file.empty()) throw Wrong{"tls needs \"cert\" and \"key\" together"};
}

// Accepts the names and values that gRPC accepts.
void read_metadata(const YAML::Node& node, RemoteAgent& agent) {
  if (!node.IsMap()) throw Wrong{"\"metadata\" must be names with values"};
  for (const auto& pair : node) {
    std::string name = text(pair.first, "metadata");
    std::string value = text(pair.second, name);
    bool right = !name.empty() && !name.starts_with("grpc-") && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    });
    if (!right) throw Wrong{fmt::format("\"{}\" is no name for metadata: a-z, 0-9, dash, dot, not grpc-…", name)};
    if (value == kHidden) {
      throw Wrong{fmt::format("the value of metadata \"{}\" was hidden by \"shepherd config\"; put it in", name)};
    }
    if (!std::ranges::all_of(value, [](char c) { return c >= 0x20 && c < 0x7F; })) {
      throw Wrong{fmt::format("the value of metadata \"{}\" must be plain ASCII", name)};
    }
    agent.metadata[name] = value;
  }
  if (agent.metadata.size() > kMaxAgentMetadata) throw Wrong{fmt::format("at most {} metadata", kMaxAgentMetadata)};
}

RemoteAgent read_service(const YAML::Node& node) {
  check_names(node, {"type", "driver", "address", "tls", "token_file", "metadata", "connect_ms", "dialect", "insecure"},
              "an agent that is a service");
  if (!node["address"]) throw Wrong{"it needs an \"address\", such as 127.0.0.1:50051"};
  RemoteAgent agent;
  agent.address = text(node["address"], "address");
  if (Result<void> right = check_address(agent.address); !right) throw Wrong{right.error().message};
  if (node["tls"]) read_tls(node["tls"], agent);
  if (node["token_file"]) agent.token_file = text(node["token_file"], "token_file");
  if (node["metadata"]) read_metadata(node["metadata"], agent);
  if (node["connect_ms"]) {
    std::string number = text(node["connect_ms"], "connect_ms");
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    bool whole = error == std::errc() && end == number.data() + number.size();
    if (!whole || value < 1 || value > 600'000) throw Wrong{"\"connect_ms\" is a whole number from 1 to 600000"};
    agent.connect_wait = std::chrono::milliseconds(value);
  }
  if (node["dialect"]) {
    agent.dialect = grpc_dialect(text(node["dialect"], "dialect"));
    if (!agent.dialect) throw Wrong{"\"dialect\" is json or typed; without it, both are tried"};
  }
  if (node["insecure"]) agent.insecure = text(node["insecure"], "insecure") == "true";
  bool secret = !agent.token_file.empty() || !secrets_of(agent).empty();
  if (secret && !agent.tls && !agent.insecure && !is_loopback_address(agent.address)) {
    throw Wrong{
        fmt::format("its token would go to {} in clear text; set \"tls\", or \"insecure: true\" when the way "
                    "there is safe otherwise",
                    agent.address)};
  }
  return agent;
}

ProgramAgent read_program(const YAML::Node& node, const KnownAgent* known) {
  check_names(node, {"driver", "command", "env"}, "an agent that is a program");
  ProgramAgent agent;
  if (node["command"]) {
    if (!node["command"].IsSequence()) throw Wrong{"\"command\" is a program and its arguments: [goose, acp]"};
    for (const auto& word : node["command"]) agent.command.push_back(text(word, "command"));
  } else if (known != nullptr) {
    agent.command = known->words();
  }
  if (agent.command.empty() || agent.command.front().empty()) {
    throw Wrong{"it needs a \"command\": a program and its arguments, such as [goose, acp]"};
  }
  if (node["env"]) {
    if (!node["env"].IsMap()) throw Wrong{"\"env\" must be names with values"};
    for (const auto& pair : node["env"]) {
      std::string name = text(pair.first, "env");
      std::string value = text(pair.second, name);
      if (value == kHidden) {
        throw Wrong{fmt::format("the value of \"{}\" was hidden by \"shepherd config\"; put it in", name)};
      }
      if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
        throw Wrong{fmt::format("\"{}\" is no name for a variable", name)};
      }
      agent.environment[name] = value;
    }
  }
  return agent;
}

std::string driver_of(const YAML::Node& node, const KnownAgent* known) {
  for (const char* member : {"driver", "type"}) {
    if (!node[member]) continue;
    std::string driver = text(node[member], member);
    if (make_driver(driver) != nullptr) return driver;
    throw Wrong{fmt::format("\"{}\" must be one of {}", member, fmt::join(driver_names(), ", "))};
  }
  if (known != nullptr) return std::string(known->driver);
  if (node["address"]) return std::string(kService);
  throw Wrong{fmt::format("it needs a \"driver\": one of {}", fmt::join(driver_names(), ", "))};
}

AgentEntry read_entry(const std::string& name, const YAML::Node& node) {
  if (!node.IsMap()) {
    throw Wrong{"an agent is names with values: {driver: claude, command: [claude]} or {address: 127.0.0.1:50051}"};
  }
  const KnownAgent* known = known_agent(name);
  AgentEntry entry{driver_of(node, known), RemoteAgent{}};
  if (entry.driver == kService) {
    entry.way = read_service(node);
  } else {
    entry.way = read_program(node, known);
  }
  return entry;
}

json::object hidden_values(const std::map<std::string, std::string>& table) {
  json::object shown;
  for (const auto& [name, value] : table) shown[name] = kHidden;
  return shown;
}

void describe(const RemoteAgent& agent, json::object& entry) {
  entry["address"] = agent.address;
  if (agent.tls) {
    json::object tls;
    auto member = [&](std::string_view name, const std::string& value) {
      if (!value.empty()) tls[name] = value;
    };
    member("ca", agent.ca_file);
    member("cert", agent.cert_file);
    member("key", agent.key_file);
    member("server_name", agent.server_name);
    if (tls.empty()) {
      entry["tls"] = true;
    } else {
      entry["tls"] = tls;
    }
  }
  if (!agent.token_file.empty()) entry["token_file"] = agent.token_file;
  if (!agent.metadata.empty()) {
    entry["metadata"] = hidden_values(agent.metadata);
  }
  if (agent.connect_wait != kAgentConnectWait) entry["connect_ms"] = agent.connect_wait.count();
  if (agent.dialect) entry["dialect"] = name(*agent.dialect);
  if (agent.insecure) entry["insecure"] = true;
}

void describe(const ProgramAgent& agent, json::object& entry) {
  entry["command"] = json::array(agent.command.begin(), agent.command.end());
  if (!agent.environment.empty()) entry["env"] = hidden_values(agent.environment);
}

}  // namespace

Result<void> check_agent_name(const std::string& name) {
  bool right = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
  if (!right) {
    return fail(ErrorCode::invalid_argument, "bad_config",
                fmt::format("\"{}\" is no name for an agent: up to 64 letters, digits, dots, dashes", name));
  }
  if (make_driver(name) != nullptr && known_agent(name) == nullptr) {
    return fail(ErrorCode::invalid_argument, "bad_config",
                fmt::format("the name \"{}\" is a driver's; choose another", name));
  }
  return {};
}

Result<AgentEntry> parse_agent_entry(const std::string& name, const std::string& yaml) {
  try {
    return read_entry(name, YAML::Load(yaml));
  } catch (const Wrong& error) {
    return fail(ErrorCode::invalid_argument, "bad_config", error.message);
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::invalid_argument, "bad_config", fmt::format("not valid YAML: {}", error.msg));
  }
}

std::vector<std::string> secrets_of(const ProgramAgent& agent) {
  std::vector<std::string> secrets;
  for (const auto& [name, value] : agent.environment) {
    if (sounds_secret(name)) secrets.push_back(value);
  }
  return secrets;
}

std::string agent_entry_json(const AgentEntry& agent) {
  json::object entry{{"driver", agent.driver}};
  std::visit([&](const auto& way) { describe(way, entry); }, agent.way);
  return json::serialize(entry);
}

}  // namespace shepherd
