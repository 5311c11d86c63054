#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/acp/limits.h"
#include "driver/acp/rpc_lines.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

struct HostMethod {
  std::string_view name;
  int what;
};
constexpr std::array kHostMethods{
    HostMethod{"fs/read_text_file", 0}, HostMethod{"fs/write_text_file", 1},     HostMethod{"terminal/create", 2},
    HostMethod{"terminal/output", 3},   HostMethod{"terminal/wait_for_exit", 4}, HostMethod{"terminal/kill", 5},
    HostMethod{"terminal/release", 6},
};

std::optional<std::size_t> size_member(const JsonSlices& record, const JsonNode& params, std::string_view key) {
  return count_of(record.find(params, key));
}

// Some agents give a whole line for a shell instead of a command and its arguments.
std::vector<std::string> argv_of(const JsonSlices& record, const JsonNode& params) {
  std::string command(record.string(params, "command"));
  const JsonNode& list = record.find(params, "args");
  std::vector<std::string> args;
  for (const JsonNode* each = record.first(list); each != nullptr; each = record.after(*each)) {
    args.emplace_back(each->text);
  }
  if (args.empty() && command.find_first_of(" \t\n|&;<>()$`\"'*?~") != std::string::npos) {
    return {"/bin/sh", "-c", std::move(command)};
  }
  args.insert(args.begin(), std::move(command));
  return args;
}

void append_exit(JsonObject& object, const TerminalState& state) {
  if (state.code) {
    object.number("exitCode", std::int64_t{*state.code});
  } else {
    object.json("exitCode", "null");
  }
  if (!state.signal) return object.json("signal", "null");
  const char* name = ::sigabbrev_np(*state.signal);
  object.text("signal", name != nullptr ? std::string("SIG") + name : std::to_string(*state.signal));
}

std::int64_t code_of(ErrorCode code) {
  if (code == ErrorCode::not_found) return kRpcNotFound;
  return code == ErrorCode::invalid_argument ? kRpcBadParameters : kRpcInternal;
}

}  // namespace

// False: it is no such method.
bool AcpAgent::host_request(std::string_view method, const JsonNode& params, Actions& out) {
  for (const HostMethod& known : kHostMethods) {
    if (known.name != method) continue;
    auto what = static_cast<Hosted::What>(known.what);
    std::string request_id(record_.find("id").slice);
    auto call = host_call(what, params);
    if (!call) {
      out.write(rpc_error(request_id, kRpcBadParameters, "a parameter is missing"));
      return true;
    }
    taken_up(out);
    std::string id = "host-" + std::to_string(next_host_call_++);
    hosted_.emplace(id, Hosted{what, std::move(request_id), std::string(record_.string(params, "terminalId"))});
    out.call({std::move(id), *std::move(call)});
    return true;
  }
  return false;
}

std::optional<HostRequest> AcpAgent::host_call(Hosted::What what, const JsonNode& params) const {
  std::string path(record_.string(params, "path"));
  std::string terminal(record_.string(params, "terminalId"));
  switch (what) {
    case Hosted::What::read:
      if (path.empty()) return std::nullopt;
      return ReadFile{std::move(path), size_member(record_, params, "line"), size_member(record_, params, "limit")};
    case Hosted::What::write:
      if (path.empty() || record_.find(params, "content").kind != JsonKind::string) return std::nullopt;
      return WriteFile{std::move(path), std::string(record_.string(params, "content"))};
    case Hosted::What::create: {
      if (record_.string(params, "command").empty()) return std::nullopt;
      StartTerminal start;
      start.command = argv_of(record_, params);
      const JsonNode& variables = record_.find(params, "env");
      for (const JsonNode* each = record_.first(variables); each != nullptr; each = record_.after(*each)) {
        start.environment.push_back(std::string(record_.string(*each, "name")) + "=" +
                                    std::string(record_.string(*each, "value")));
      }
      start.directory = record_.string(params, "cwd");
      start.keep_bytes = size_member(record_, params, "outputByteLimit");
      return start;
    }
    default:
      break;
  }
  if (terminal.empty()) return std::nullopt;
  if (what == Hosted::What::output) return LookAtTerminal{std::move(terminal)};
  if (what == Hosted::What::wait) return AwaitTerminal{std::move(terminal)};
  if (what == Hosted::What::kill) return KillTerminal{std::move(terminal)};
  return ReleaseTerminal{std::move(terminal)};
}

// Some agents give a terminal as the result of a call, and leave it to us to show what its command printed.
void AcpAgent::keep_output(const std::string& terminal, std::string_view output) {
  std::size_t from = output.size() - std::min(output.size(), kMaxWholeBytes);
  while (from > 0 && from < output.size() && (static_cast<unsigned char>(output[from]) & 0xC0U) == 0x80U) ++from;
  terminals_.insert_or_assign(terminal, std::string(output.substr(from)));
  if (terminals_.size() > kMaxAcpTerminals) terminals_.erase(terminals_.begin());
}

std::string AcpAgent::terminal_text(const AcpCall& call) const {
  std::string text;
  for (std::string_view block : array_elements(call.content).value_or(std::vector<std::string_view>())) {
    auto found = terminals_.find(text_member(block, "terminalId"));
    if (found != terminals_.end()) text += found->second;
  }
  return text;
}

void AcpAgent::answer(const HostAnswer& answer, std::int64_t now_ms, Actions& out) {
  now_ms_ = now_ms;
  emitted_ = 1;
  auto found = hosted_.find(answer.id);
  if (found == hosted_.end()) return;  // the agent took it back
  Hosted hosted = std::move(found->second);
  hosted_.erase(found);
  if (!answer.result) {
    const Error& error = answer.result.error();
    return out.write(rpc_error(hosted.request_id, code_of(error.code), error.message));
  }
  const auto& result = *answer.result;
  std::string said = object_text([&](JsonObject& object) {
    if (const auto* file = std::get_if<FileText>(&result)) object.text("content", file->text);
    if (const auto* started = std::get_if<TerminalStarted>(&result)) object.text("terminalId", started->terminal);
    const auto* state = std::get_if<TerminalState>(&result);
    if (state == nullptr) return;
    keep_output(hosted.terminal, state->output);
    if (hosted.what == Hosted::What::wait) return append_exit(object, *state);
    object.text("output", state->output);
    object.flag("truncated", state->cut);
    if (!state->running) object.object("exitStatus", [&](JsonObject& exit) { append_exit(exit, *state); });
  });
  out.write(rpc_result(hosted.request_id, said));
}

}  // namespace shepherd
