#include "config/config_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

#include "config/bad_config.h"
#include "config/config_agents.h"
#include "config/config_mcp.h"
#include "config/config_models.h"
#include "config/config_prices.h"
#include "config/limits.h"
#include "config/nearest_word.h"
#include "model/limits.h"

namespace shepherd {
namespace {

using Accept = std::vector<std::string>;

Result<std::int64_t> whole_number(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return bad_config(most == std::numeric_limits<std::int64_t>::max()
                          ? fmt::format("\"{}\" is not a whole number of at least {}", text, least)
                          : fmt::format("\"{}\" is not a whole number from {} to {}", text, least, most));
  }
  return value;
}

Result<bool> yes_or_no(const std::string& text) {
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  return bad_config(fmt::format("\"{}\" is neither true nor false", text));
}

// Each builder takes a function from Config& to the member, so that one line per key is enough.
template <class Member>
ConfigKey text_key(std::string name, std::string help, Member member, Accept accept = {}) {
  return {std::move(name), KeyKind::text, std::move(help),
          [member, accept](Config& config, const KeyValue& value) -> Result<void> {
            const auto& text = std::get<std::string>(value);
            if (!accept.empty() && std::find(accept.begin(), accept.end(), text) == accept.end()) {
              return bad_config(fmt::format("\"{}\" is not one of: {}", text, fmt::join(accept, ", ")));
            }
            member(config) = text;
            return {};
          },
          [member](const Config& config) -> KeyValue { return member(config); }};
}

// An address to listen on. A port alone means the loopback address.
template <class Member>
ConfigKey listen_key(std::string name, std::string help, Member member) {
  ConfigKey key = text_key(std::move(name), std::move(help), member);
  key.set = [set = key.set](Config& config, const KeyValue& value) {
    const auto& text = std::get<std::string>(value);
    bool port = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return set(config, port ? KeyValue("127.0.0.1:" + text) : value);
  };
  return key;
}

template <class Member>
ConfigKey number_key(std::string name, std::string help, Member member, std::int64_t least,
                     std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return {std::move(name), KeyKind::number, std::move(help),
          [member, least, most](Config& config, const KeyValue& value) -> Result<void> {
            Result<std::int64_t> number = whole_number(std::get<std::string>(value), least, most);
            if (!number) return fail(number.error());
            auto& target = member(config);
            target = static_cast<std::remove_reference_t<decltype(target)>>(*number);
            return {};
          },
          [member](const Config& config) -> KeyValue { return std::to_string(member(config)); }};
}

template <class Member>
ConfigKey boolean_key(std::string name, std::string help, Member member) {
  return {std::move(name), KeyKind::boolean, std::move(help),
          [member](Config& config, const KeyValue& value) -> Result<void> {
            Result<bool> flag = yes_or_no(std::get<std::string>(value));
            if (!flag) return fail(flag.error());
            member(config) = *flag;
            return {};
          },
          [member](const Config& config) -> KeyValue { return std::string(member(config) ? "true" : "false"); }};
}

template <class Member>
ConfigKey list_key(std::string name, std::string help, Member member) {
  return {std::move(name), KeyKind::list, std::move(help),
          [member](Config& config, const KeyValue& value) -> Result<void> {
            member(config) = std::get<std::vector<std::string>>(value);
            return {};
          },
          [member](const Config& config) -> KeyValue { return member(config); }};
}

ConfigKey tools_key() {
  return {"condense.tools", KeyKind::table, "characters to keep of string values, by tool name",
          [](Config& config, const KeyValue& value) -> Result<void> {
            std::map<std::string, std::size_t> by_tool;
            for (const auto& [tool, text] : std::get<std::map<std::string, std::string>>(value)) {
              Result<std::int64_t> number = whole_number(text, 0, kMaxEventBytes);
              if (!number) return fail(number.error());
              by_tool[tool] = static_cast<std::size_t>(*number);
            }
            config.condense.by_tool = std::move(by_tool);
            return {};
          },
          [](const Config& config) -> KeyValue {
            std::map<std::string, std::string> table;
            for (const auto& [tool, number] : config.condense.by_tool) table[tool] = std::to_string(number);
            return table;
          }};
}

ConfigKey agents_key() {
  return {"agents", KeyKind::entries,
          "agents by name: {NAME: {driver: claude, command: [PROGRAM]}} or {NAME: {address: HOST:PORT}}",
          [](Config& config, const KeyValue& value) -> Result<void> {
            std::map<std::string, AgentEntry> agents;
            for (const auto& [name, entry] : std::get<std::map<std::string, std::string>>(value)) {
              if (Result<void> right = check_agent_name(name); !right) return right;
              Result<AgentEntry> agent = parse_agent_entry(name, entry);
              if (!agent) return bad_config(fmt::format("{}: {}", name, agent.error().message));
              agents[name] = *std::move(agent);
            }
            if (agents.size() > kMaxConfiguredAgents)
              return bad_config(fmt::format("at most {}", kMaxConfiguredAgents));
            config.agents = std::move(agents);
            return {};
          },
          [](const Config& config) -> KeyValue {
            std::map<std::string, std::string> entries;
            for (const auto& [name, agent] : config.agents) entries[name] = agent_entry_json(agent);
            return entries;
          }};
}

ConfigKey models_key() {
  return {"models", KeyKind::entries, "named models for chat sessions: {NAME: {type: openai, url: URL}}",
          [](Config& config, const KeyValue& value) -> Result<void> {
            std::map<std::string, ModelConfig> models;
            for (const auto& [name, entry] : std::get<std::map<std::string, std::string>>(value)) {
              Result<ModelConfig> model = parse_model_entry(name, entry);
              if (!model) return bad_config(fmt::format("{}: {}", name, model.error().message));
              models[name] = *std::move(model);
            }
            if (models.size() > kMaxConfiguredAgents) {
              return bad_config(fmt::format("at most {}", kMaxConfiguredAgents));
            }
            config.models = std::move(models);
            return {};
          },
          [](const Config& config) -> KeyValue {
            std::map<std::string, std::string> entries;
            for (const auto& [name, model] : config.models) entries[name] = model_entry_json(model);
            return entries;
          }};
}

ConfigKey prices_key() {
  return {"prices", KeyKind::entries,
          "prices by a model's name, in dollars per million tokens: {MODEL: {as_of: DATE, input: 3.0, output: 15.0}}",
          [](Config& config, const KeyValue& value) -> Result<void> {
            PriceTable prices;
            for (const auto& [name, entry] : std::get<std::map<std::string, std::string>>(value)) {
              Result<ModelPrice> price = parse_price_entry(entry);
              if (!price) return bad_config(fmt::format("{}: {}", name, price.error().message));
              prices[name] = *std::move(price);
            }
            if (prices.size() > kMaxPrices) return bad_config(fmt::format("at most {}", kMaxPrices));
            config.prices = std::move(prices);
            return {};
          },
          [](const Config& config) -> KeyValue {
            std::map<std::string, std::string> entries;
            for (const auto& [name, price] : config.prices) entries[name] = price_entry_json(price);
            return entries;
          }};
}

ConfigKey mcp_servers_key() {
  return {"mcp_servers", KeyKind::entries,
          "named MCP servers whose tools chat sessions use: {NAME: {command: [PROGRAM]}} or {NAME: {url: URL}}",
          [](Config& config, const KeyValue& value) -> Result<void> {
            std::map<std::string, McpServerConfig> servers;
            for (const auto& [name, entry] : std::get<std::map<std::string, std::string>>(value)) {
              Result<McpServerConfig> server = parse_mcp_entry(name, entry);
              if (!server) return bad_config(fmt::format("{}: {}", name, server.error().message));
              servers[name] = *std::move(server);
            }
            if (servers.size() > kMaxMcpServers) return bad_config(fmt::format("at most {}", kMaxMcpServers));
            config.mcp_servers = std::move(servers);
            return {};
          },
          [](const Config& config) -> KeyValue {
            std::map<std::string, std::string> entries;
            for (const auto& [name, server] : config.mcp_servers) entries[name] = mcp_entry_json(server);
            return entries;
          }};
}

// A function that returns the member of a Config, const or not, that a key sets and shows.
#define MEMBER(path) [](auto& config) -> auto& { return config.path; }

// "https://chat.example.com:8443", as browsers send it.
bool is_origin(std::string_view text) {
  std::size_t scheme = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  std::string_view host = text.substr(scheme);
  return scheme > 0 && !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == ':' || c == '[' ||
                  c == ']';
         });
}

ConfigKey cors_origins_key() {
  return {"chat.cors_origins", KeyKind::list,
          "origins of other sites whose pages may use the paths of chats; each as browsers send it, never *",
          [](Config& config, const KeyValue& value) -> Result<void> {
            const auto& origins = std::get<std::vector<std::string>>(value);
            for (const std::string& each : origins) {
              if (is_origin(each)) continue;
              return bad_config(
                  fmt::format("\"{}\" is no origin; write scheme, host and port as browsers send them, such "
                              "as https://chat.example.com, and no *",
                              each));
            }
            config.chat_cors_origins = origins;
            return {};
          },
          [](const Config& config) -> KeyValue { return config.chat_cors_origins; }};
}

std::vector<ConfigKey> make_keys() {
  const Accept auth{"token", "none"};
  return {
      text_key("data", "directory of the database, tokens and audit", MEMBER(data)),
      listen_key("public.listen", "address for people, dashboards and command lines", MEMBER(public_port.listen)),
      text_key("public.auth", "token, or none (loopback only)", MEMBER(public_port.auth), auth),
      text_key("public.tls.cert", "certificate chain of the public address (PEM file)", MEMBER(public_port.tls_cert)),
      text_key("public.tls.key", "private key of public.tls.cert (PEM file)", MEMBER(public_port.tls_key)),
      list_key("public.hosts", "host names that clients use for the public address, in addition to loopback",
               MEMBER(public_port.hosts)),
      list_key("public.origins", "origins of other web pages that may call the API", MEMBER(public_port.origins)),
      boolean_key("public.allow_query_token", "accept tokens in the query (?token=); they end up in logs of proxies",
                  MEMBER(allow_query_token)),
      boolean_key("public.metrics_open", "serve /metrics without a token", MEMBER(metrics_open)),
      listen_key("internal.listen", "address for runners and agents", MEMBER(internal.listen)),
      text_key("internal.auth", "token, or none (loopback or trusted network only)", MEMBER(internal.auth), auth),
      boolean_key("internal.trusted_network", "state that only trusted programs can reach the internal address",
                  MEMBER(internal.trusted_network)),
      text_key("internal.tls.cert", "certificate chain of the internal address (PEM file)", MEMBER(internal.tls_cert)),
      text_key("internal.tls.key", "private key of internal.tls.cert (PEM file)", MEMBER(internal.tls_key)),
      list_key("internal.hosts", "host names that clients use for the internal address, in addition to loopback",
               MEMBER(internal.hosts)),
      boolean_key("insecure_bind", "allow addresses beyond loopback without TLS", MEMBER(insecure_bind)),
      listen_key("grpc.listen", "address for gRPC clients; off: no gRPC", MEMBER(grpc.listen)),
      text_key("grpc.tls.cert", "certificate chain of the gRPC address (PEM file)", MEMBER(grpc.tls_cert)),
      text_key("grpc.tls.key", "private key of grpc.tls.cert (PEM file)", MEMBER(grpc.tls_key)),
      text_key("log.level", "least severe messages to log: debug, info, warn, error or off", MEMBER(log_level),
               {"debug", "info", "warn", "error", "off"}),
      number_key("io_threads", "threads that serve connections; 0: one per core, at most four", MEMBER(io_threads), 0,
                 64),
      number_key("retention.days", "days to keep events; 0: forever", MEMBER(retention_days), 0, 36'500),
      number_key("retention.bytes", "largest size of the database; older events are deleted first; 0: no bound",
                 MEMBER(retention_bytes), 0),
      number_key("retention.stats_days", "days to keep statistics (cost, tokens, tools); 0: forever",
                 MEMBER(stats_days), 0, 36'500),
      number_key("retention.stats_bytes",
                 "largest size of the statistics; the oldest days are deleted first; 0: no bound", MEMBER(stats_bytes),
                 0),
      number_key("inbox.stalled_seconds", "seconds of silence after which a working agent is reported as stalled",
                 MEMBER(stalled_seconds), 1, 86'400),
      boolean_key("redact.enabled", "replace secrets before events are stored", MEMBER(redact.enabled)),
      boolean_key("redact.emails", "also replace e-mail addresses", MEMBER(redact.emails)),
      boolean_key("redact.cards", "also replace payment card numbers", MEMBER(redact.cards)),
      list_key("redact.patterns", "additional patterns to replace (RE2)", MEMBER(redact.patterns)),
      number_key("condense.command", "characters to keep of a shell command", MEMBER(condense.command_characters), 0,
                 kMaxEventBytes),
      number_key("condense.result", "characters to keep of a tool's output", MEMBER(condense.result_characters), 0,
                 kMaxEventBytes),
      number_key("condense.string", "characters to keep of any other string", MEMBER(condense.string_characters), 0,
                 kMaxEventBytes),
      tools_key(),
      number_key("runners.count", "number of agents that serve runs at a time in its own process", MEMBER(runners), 0,
                 kMaxRunners),
      number_key("runners.stop.interrupt_ms",
                 "milliseconds between the agent's own interrupt and SIGINT; 0: skip the interrupt",
                 MEMBER(stop_interrupt_ms), 0, 3'600'000),
      number_key("runners.stop.sigint_ms", "milliseconds between SIGINT and SIGTERM; 0: skip SIGINT",
                 MEMBER(stop_sigint_ms), 0, 3'600'000),
      number_key("runners.stop.sigterm_ms", "milliseconds between SIGTERM and SIGKILL; 0: skip SIGTERM",
                 MEMBER(stop_sigterm_ms), 0, 3'600'000),
      number_key("runners.lease_seconds", "seconds of silence after which a runner loses its task",
                 MEMBER(steering.lease_seconds), 1, kMaxLeaseSeconds),
      number_key("runners.timeout_grace_seconds", "seconds that a runner has to end a task after its timeout",
                 MEMBER(steering.timeout_grace_seconds), 0, kMaxLeaseSeconds),
      text_key("runners.confine", "confinement of agents: none, secrets or workspace (docs/security.md)",
               MEMBER(confine), {"none", "secrets", "workspace"}),
      list_key("runners.writable", "paths that agents may change at level workspace, in addition to their own",
               MEMBER(confine_writable)),
      text_key("runners.rules", "instructions for every agent: a file, or a directory of *.md files", MEMBER(rules)),
      text_key("runners.token_file", "file that holds the repository token for runners", MEMBER(steering.tokens.file)),
      list_key("runners.token_command", "command that prints a repository token (instead of runners.token_file)",
               MEMBER(steering.tokens.command)),
      text_key("runners.github_app.id",
               "id of the GitHub App that issues repository tokens (instead of a file or command)",
               MEMBER(steering.tokens.github_app_id)),
      text_key("runners.github_app.key_file", "private key of the GitHub App (PEM file)",
               MEMBER(steering.tokens.github_app_key_file)),
      text_key("runners.github_app.api_url", "API address of GitHub or of an enterprise server",
               MEMBER(steering.tokens.github_api_url)),
      text_key("callbacks.secret_file",
               "file with the secret that signs callbacks; empty: callback.secret in the data directory",
               MEMBER(steering.callbacks.secret_file)),
      number_key("callbacks.attempts", "attempts after which a callback has failed",
                 MEMBER(steering.callbacks.attempts), 1, 100),
      number_key("hooks.session_idle_seconds", "seconds without a hook call after which a session has ended; 0: never",
                 MEMBER(steering.session_idle_seconds), 0, 366LL * 24 * 3600),
      boolean_key("detail.keep", "keep full content and raw records with events", MEMBER(keep_detail)),
      agents_key(),
      models_key(),
      prices_key(),
      list_key("chat.models", "models of chat sessions, the first that works; empty: all of models, by name",
               MEMBER(chat_models)),
      text_key("chat.system", "text that every chat session begins with", MEMBER(chat.system)),
      number_key("chat.max_tokens", "tokens of an answer: 0 for a share of the context, -1 for all that is left",
                 MEMBER(chat.max_tokens), -1, 1'000'000'000),
      number_key("chat.max_turn_steps", "calls of the model in one turn", MEMBER(chat.max_turn_steps), 1, 10'000),
      number_key("chat.parallel_sessions", "chat sessions that answer at the same time", MEMBER(chat.parallel_turns), 1,
                 10'000),
      boolean_key("chat.code_blocks", "send code in answers as separate events", MEMBER(chat.code_blocks)),
      boolean_key("chat.show_reasoning", "send the model's reasoning to observers", MEMBER(chat.show_reasoning)),
      boolean_key("chat.log_api_calls", "record each call of /v1/chat/completions as a task",
                  MEMBER(chat.log_api_calls)),
      list_key("chat.allow", "tools that need no approval: write_file, run_command(git)", MEMBER(chat.allow)),
      cors_origins_key(),
      list_key("chat.tools", "tools that chat sessions offer to the model; []: none", MEMBER(chat_tools.names)),
      text_key(
          "chat.tools_root",
          "directory whose files chat sessions read and write, and in which they run commands; empty: none of that",
          MEMBER(chat_tools.root)),
      number_key("chat.command_seconds", "longest time limit of a command in a chat session",
                 MEMBER(chat_tools.max_command_seconds), 1, 86'400),
      boolean_key("chat.fetch_private", "let fetch_url call this machine and private networks",
                  MEMBER(chat_tools.fetch_private)),
      mcp_servers_key(),
      text_key("claude.program", "path of Claude Code; empty: claude from PATH", MEMBER(claude_program)),
      text_key("claude.output_format", "output format of Claude Code; only stream-json can be steered",
               MEMBER(claude_output_format), {"stream-json", "stream-json-one-way", "json", "text"}),
      boolean_key("observability.enabled",
                  "record the steps of Claude Code; false: keep only its answer (output_format text)",
                  MEMBER(observability_enabled)),
      number_key("observability.buffer_size", "number of a task's newest events to keep in memory",
                 MEMBER(observability_buffer_size), 1, 1'000'000),
  };
}

#undef MEMBER

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = make_keys();
  return keys;
}

const ConfigKey* find_config_key(std::string_view name) {
  for (const ConfigKey& key : config_keys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

const std::vector<KeyAlias>& config_aliases() {
  static const std::vector<KeyAlias> aliases{
      {"observability.event_retention_days", "retention.days"},
      {"observability.dashboard_port", "public.listen", true},
      {"claude.observability.enabled", "observability.enabled"},
      {"claude.observability.buffer_size", "observability.buffer_size"},
      {"claude.observability.event_retention_days", "retention.days"},
      {"claude.observability.dashboard_port", "public.listen", true},
  };
  return aliases;
}

std::string environment_name(std::string_view key) {
  std::string name = "SHEPHERD_";
  for (char c : key) name += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

std::string nearest_key(std::string_view name) {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys()) names.push_back(key.name);
  for (const KeyAlias& alias : config_aliases()) names.push_back(alias.name);
  return nearest_word(name, names);
}

}  // namespace shepherd
