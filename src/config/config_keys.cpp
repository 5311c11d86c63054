#include "config/config_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

#include "config/bad_config.h"
#include "config/config_agents.h"
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

// Each builder takes a function from Config& to the member, so one line per key says everything about it.
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

// An address to listen on. A port alone means this machine's.
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
  return {"condense.tools", KeyKind::table, "characters kept of string values, by tool name",
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
  return {"agents", KeyKind::entries, "agents under names of one's own: {NAME: {type: grpc, address: HOST:PORT}}",
          [](Config& config, const KeyValue& value) -> Result<void> {
            std::map<std::string, RemoteAgent> agents;
            for (const auto& [name, entry] : std::get<std::map<std::string, std::string>>(value)) {
              if (Result<void> right = check_agent_name(name); !right) return right;
              Result<RemoteAgent> agent = parse_agent_entry(entry);
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

// The member of a Config, const or not, that a key sets and shows.
#define MEMBER(path) [](auto& config) -> auto& { return config.path; }

std::vector<ConfigKey> make_keys() {
  const Accept auth{"token", "none"};
  return {
      text_key("data", "directory of the database, tokens and audit", MEMBER(data)),
      listen_key("public.listen", "address for people, dashboards and command lines", MEMBER(public_port.listen)),
      text_key("public.auth", "token, or none (loopback only)", MEMBER(public_port.auth), auth),
      text_key("public.tls.cert", "certificate chain, PEM", MEMBER(public_port.tls_cert)),
      text_key("public.tls.key", "its private key, PEM", MEMBER(public_port.tls_key)),
      list_key("public.hosts", "names this server is called by, beside loopback", MEMBER(public_port.hosts)),
      list_key("public.origins", "web pages of other origins that may call", MEMBER(public_port.origins)),
      boolean_key("public.allow_query_token", "accept ?token= (it ends up in proxies' logs)",
                  MEMBER(allow_query_token)),
      boolean_key("public.metrics_open", "/metrics without a token", MEMBER(metrics_open)),
      listen_key("internal.listen", "address for runners and agents", MEMBER(internal.listen)),
      text_key("internal.auth", "token, or none (loopback or trusted network only)", MEMBER(internal.auth), auth),
      boolean_key("internal.trusted_network", "only trusted programs reach the internal address",
                  MEMBER(internal.trusted_network)),
      text_key("internal.tls.cert", "certificate chain, PEM", MEMBER(internal.tls_cert)),
      text_key("internal.tls.key", "its private key, PEM", MEMBER(internal.tls_key)),
      list_key("internal.hosts", "names the internal address is called by, beside loopback", MEMBER(internal.hosts)),
      boolean_key("insecure_bind", "allow addresses beyond loopback without TLS", MEMBER(insecure_bind)),
      listen_key("grpc.listen", "address for programs that speak gRPC; off: none", MEMBER(grpc.listen)),
      text_key("grpc.tls.cert", "certificate chain, PEM", MEMBER(grpc.tls_cert)),
      text_key("grpc.tls.key", "its private key, PEM", MEMBER(grpc.tls_key)),
      text_key("log.level", "debug, info, warn, error or off", MEMBER(log_level),
               {"debug", "info", "warn", "error", "off"}),
      number_key("io_threads", "threads for connections; 0: up to four", MEMBER(io_threads), 0, 64),
      number_key("retention.days", "events are kept this long; 0: for ever", MEMBER(retention_days), 0, 36'500),
      number_key("retention.bytes", "and while the database is smaller than this; 0: no bound", MEMBER(retention_bytes),
                 0),
      number_key("retention.stats_days", "figures (spend, tokens, tools) are kept this long; 0: for ever",
                 MEMBER(stats_days), 0, 36'500),
      number_key("retention.stats_bytes", "and while they are smaller than this; 0: no bound", MEMBER(stats_bytes), 0),
      number_key("inbox.stalled_seconds", "a working agent that is quiet for so long needs somebody",
                 MEMBER(stalled_seconds), 1, 86'400),
      boolean_key("redact.enabled", "replace secrets in what enters", MEMBER(redact.enabled)),
      boolean_key("redact.emails", "e-mail addresses too", MEMBER(redact.emails)),
      boolean_key("redact.cards", "payment card numbers too", MEMBER(redact.cards)),
      list_key("redact.patterns", "own patterns (RE2)", MEMBER(redact.patterns)),
      number_key("condense.command", "characters kept of a shell command", MEMBER(condense.command_characters), 0,
                 kMaxEventBytes),
      number_key("condense.result", "characters kept of a result", MEMBER(condense.result_characters), 0,
                 kMaxEventBytes),
      number_key("condense.string", "characters kept of other strings", MEMBER(condense.string_characters), 0,
                 kMaxEventBytes),
      tools_key(),
      number_key("runners.count", "agents that serve runs at once in its own process", MEMBER(runners), 0, kMaxRunners),
      number_key("runners.stop.interrupt_ms", "after the agent's own interrupt, before SIGINT; 0: without it",
                 MEMBER(stop_interrupt_ms), 0, 3'600'000),
      number_key("runners.stop.sigint_ms", "after SIGINT, before SIGTERM; 0: without it", MEMBER(stop_sigint_ms), 0,
                 3'600'000),
      number_key("runners.stop.sigterm_ms", "after SIGTERM, before SIGKILL; 0: without it", MEMBER(stop_sigterm_ms), 0,
                 3'600'000),
      number_key("runners.lease_seconds", "a runner that says nothing for this long has lost its task",
                 MEMBER(steering.lease_seconds), 1, kMaxLeaseSeconds),
      number_key("runners.timeout_grace_seconds", "for a runner to end a task that ran out of time",
                 MEMBER(steering.timeout_grace_seconds), 0, kMaxLeaseSeconds),
      text_key("runners.confine", "what agents are kept from: none, secrets or workspace (docs/security.md)",
               MEMBER(confine), {"none", "secrets", "workspace"}),
      list_key("runners.writable", "paths that agents may change at level workspace too, beside their own",
               MEMBER(confine_writable)),
      text_key("runners.rules", "what every agent is told: a file, or a directory of *.md files", MEMBER(rules)),
      text_key("runners.token_file", "a file with the repository token that runners get", MEMBER(steering.tokens.file)),
      list_key("runners.token_command", "or a command that prints one", MEMBER(steering.tokens.command)),
      text_key("runners.github_app.id", "or a GitHub App that makes them", MEMBER(steering.tokens.github_app_id)),
      text_key("runners.github_app.key_file", "its private key, PEM", MEMBER(steering.tokens.github_app_key_file)),
      text_key("runners.github_app.api_url", "of GitHub, or of an enterprise server",
               MEMBER(steering.tokens.github_api_url)),
      text_key("callbacks.secret_file", "the secret that signs callbacks; empty: callback.secret in the data directory",
               MEMBER(steering.callbacks.secret_file)),
      number_key("callbacks.attempts", "then a callback has failed", MEMBER(steering.callbacks.attempts), 1, 100),
      number_key("hooks.session_idle_seconds", "a session whose hooks say nothing for this long has ended; 0: never",
                 MEMBER(steering.session_idle_seconds), 0, 366LL * 24 * 3600),
      boolean_key("detail.keep", "keep full content and raw records beside events", MEMBER(keep_detail)),
      agents_key(),
      text_key("claude.program", "the agent program; empty: claude, as PATH finds it", MEMBER(claude_program)),
      text_key("claude.output_format", "how the agent is listened to; only stream-json can be steered",
               MEMBER(claude_output_format), {"stream-json", "stream-json-one-way", "json", "text"}),
      boolean_key(
          "observability.enabled",
          "false: Claude Code runs without its steps being watched (output_format text), only its answer is kept",
          MEMBER(observability_enabled)),
      number_key("observability.buffer_size", "newest events of a task kept in memory",
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
