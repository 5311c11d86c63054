#include "hooks/hook_delivery.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/whole_file.h"
#include "client/api_client.h"
#include "client/find_server.h"
#include "hooks/limits.h"
#include "hooks/transcript_files.h"
#include "json/scan.h"
#include "json/tree.h"

namespace shepherd {
namespace {

namespace json = boost::json;

constexpr const char* kTokenFile = "/hook.token";

// A session's SESSION.jsonl has its sub-agents' files in SESSION/subagents. Each file names the call that started its
// sub-agent.
std::string parent_call(const json::object& call) {
  std::string agent = text_member(call, "agent_id");
  std::string transcript = text_member(call, "transcript_path");
  constexpr std::string_view kEnding = ".jsonl";
  if (agent.empty() || agent.find('/') != std::string::npos || !transcript.ends_with(kEnding)) return {};
  transcript.resize(transcript.size() - kEnding.size());
  return sub_agent_call(fmt::format("{}/subagents/agent-{}{}", transcript, agent, kEnding));
}

// Threads: caller.
class HookSender {
 public:
  explicit HookSender(const HookRoute& route) : route_(route) {}

  Result<void> connect(bool renew) {
    Result<Destination> destination = route_.locate();
    if (!destination) return fail(destination.error());
    std::string path = route_.data + kTokenFile;
    Result<std::string> known = renew ? Result<std::string>("") : read_first_line(path);
    if (!known) return fail(known.error());
    if (known->empty() && !destination->token.empty()) {
      known = make_token(*destination, path);
      if (!known) return fail(known.error());
    }
    destination->token = *known;
    Result<ApiClient> client = ApiClient::create(*std::move(destination), route_.tls);
    if (!client) return fail(client.error());
    client_.emplace(*std::move(client));
    return {};
  }

  Result<void> post(std::span<const std::string> calls) {
    std::string body = fmt::format("[{}]", fmt::join(calls, ","));
    Result<void> posted = client_->post_hooks(body);
    if (posted || posted.error().code != ErrorCode::unauthenticated || renewed_) return posted;
    renewed_ = true;  // the token was revoked, expired, or belongs to another server
    if (Result<void> again = connect(true); !again) return again;
    return client_->post_hooks(body);
  }

 private:
  Result<std::string> make_token(const Destination& destination, const std::string& path) {
    Result<ApiClient> client = ApiClient::create(destination, route_.tls);
    if (!client) return fail(client.error());
    Result<std::string> made = client->create_token({"claude hooks", "producer", "", 0});
    // A caller that may not create tokens may still post, so the given token is used directly.
    if (!made && made.error().code == ErrorCode::permission_denied) return destination.token;
    if (!made) return fail(made.error());
    std::string token = string_value(find_member(*made, "secret")).value_or("");
    if (token.empty()) return destination.token;
    if (Result<void> kept = replace_file(path, token + "\n", S_IRUSR | S_IWUSR); !kept) return fail(kept.error());
    return token;
  }

  const HookRoute& route_;
  std::optional<ApiClient> client_;
  bool renewed_ = false;
};

bool is_about_the_call(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::too_large ||
         error.code == ErrorCode::conflict;
}

Result<void> post(const HookRoute& route, const std::vector<std::string>& calls) {
  HookSender sender(route);
  if (Result<void> connected = sender.connect(false); !connected) return connected;
  Result<void> posted = sender.post(calls);
  if (posted || !is_about_the_call(posted.error())) return posted;
  for (const std::string& call : calls) {
    Result<void> alone = sender.post(std::span(&call, 1));
    if (!alone && !is_about_the_call(alone.error())) return alone;
  }
  return {};
}

}  // namespace

Result<std::string> prepare_hook_call(std::string_view payload, std::int64_t now_ms) {
  Result<json::value> tree = parse_tree(payload);
  if (!tree || !tree->is_object()) {
    return fail(ErrorCode::invalid_argument, "bad_hook", "a hook call is a JSON object on standard input");
  }
  json::object& call = tree->get_object();
  call.insert_or_assign("timestamp", format_timestamp(now_ms));
  if (std::string parent = parent_call(call); !parent.empty()) call.insert_or_assign("parent_tool_use_id", parent);
  if (payload.size() > kMaxHookBytes) {
    for (std::string_view large : {"tool_input", "tool_response", "tool_calls", "error"}) {
      if (call.contains(large)) call.insert_or_assign(large, json::object{{"cut", true}});
    }
  }
  return tree_text(*tree);
}

HookRoute own_hook_route(std::string data) {
  Locate locate = [data] { return find_server({"", "", data}, [](const char*) { return std::string(); }); };
  // The certificate is the server's own, on this machine.
  return {.data = std::move(data), .locate = std::move(locate), .tls = {"", true}};
}

Result<std::uint64_t> deliver_hook_calls(const HookRoute& route, const std::stop_token& stop) {
  std::uint64_t delivered = 0;
  HookSpool spool(route.data, route.whom);
  if (spool.empty()) return delivered;
  Result<void> done = spool.deliver([&](const std::vector<std::string>& calls) -> Result<void> {
    if (stop.stop_requested()) return fail(ErrorCode::unavailable, "stopped", "the rest is delivered another time");
    Result<void> posted = post(route, calls);
    if (posted) delivered += calls.size();
    return posted;
  });
  if (!done) return fail(done.error());
  return delivered;
}

}  // namespace shepherd
