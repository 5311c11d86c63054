#include "driver/registry/exported_sessions.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "driver/claude/telemetry.h"
#include "driver/codex/telemetry.h"
#include "driver/registry/limits.h"

namespace shepherd {
namespace {

struct KnownService {
  std::string_view service, agent, program;
};
constexpr std::array<KnownService, 6> kServices{{
    {"claude-code", "claude", "Claude Code"},
    {"codex_cli_rs", "codex", "Codex"},
    {"codex_exec", "codex", "Codex"},
    {"codex-app-server", "codex", "Codex"},
    {"gemini-cli", "gemini", "Gemini CLI"},
    {"qwen-code", "qwen", "Qwen Code"},
}};

bool is_plain(std::string_view id) {
  return !id.empty() && id.size() <= kMaxExportedSessionBytes && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::string_view session_in(const OtlpAttributes& attributes) {
  for (std::string_view key : {"session.id", "conversation.id", "gen_ai.conversation.id"}) {
    if (std::string_view id = attributes.text(key); is_plain(id)) return id;
  }
  return {};
}

// "My Agent" is "my-agent" in a task's id.
std::string agent_named(std::string_view service) {
  std::string name;
  for (char c : service.substr(0, kMaxExportedAgentBytes)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain || (!name.empty() && name.back() != '-')) name.push_back(plain ? c : '-');
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "agent" : name;
}

// Threads: caller.
class SessionSorter {
 public:
  SessionSorter(const OtlpRequest& request, std::int64_t now_ms)
      : request_(request), now_ms_(now_ms), claude_(request, now_ms) {}

  ExportedSessions take() {
    for (const OtlpLog& log : request_.logs) {
      SessionTelemetry* session = session_of(log);
      if (session == nullptr) continue;
      if (is_claude(log)) {
        claude_.log(log, *session);
      } else if (session->agent == "codex") {
        read_codex_log(log, now_ms_, *session);
      } else {
        read_unknown_log(log, now_ms_, *session);
      }
    }
    for (const OtlpPoint& point : request_.points) {
      if (!is_claude(point)) {
        reject_unread(point.resource, "metrics");
      } else if (SessionTelemetry* session = session_of(point)) {
        claude_.point(point, *session);
      }
    }
    for (const OtlpSpan& span : request_.spans) {
      if (!is_claude(span)) {
        reject_unread(span.resource, "traces");
      } else if (SessionTelemetry* session = session_of(span)) {
        claude_.span(span, *session);
      }
    }
    return std::move(out_);
  }

 private:
  const OtlpAttributes& resource(std::size_t index) const { return request_.resources[index]; }

  template <class Record>
  bool is_claude(const Record& record) const {
    return ClaudeTelemetry::is_sender(resource(record.resource).text("service.name"));
  }

  void reject(std::string why) {
    ++out_.partial.rejected;
    if (out_.partial.why.empty()) out_.partial.why = std::move(why);
  }
  void reject_unread(std::size_t index, std::string_view what) {
    std::string service(resource(index).text("service.name").substr(0, kMaxExportedSessionBytes));
    reject("The " + std::string(what) + " of service.name \"" + service +
           "\" are not read here. Export them to another collector, or switch them off.");
  }

  // nullptr: the record belongs to none.
  template <class Record>
  SessionTelemetry* session_of(const Record& record) {
    const OtlpAttributes& sender = resource(record.resource);
    std::string_view id = session_in(record.attributes);
    if (id.empty()) id = session_in(sender);
    if (id.empty()) {
      reject("A record needs the attribute session.id (up to 64 letters, digits, - and _), so that it finds its task.");
      return nullptr;
    }
    std::string_view service = sender.text("service.name");
    const auto* known = std::ranges::find(kServices, service, &KnownService::service);
    std::string agent = known != kServices.end() ? std::string(known->agent) : agent_named(service);
    std::string_view task = sender.text("shepherd.task");
    for (SessionTelemetry& each : out_.sessions) {
      if (each.session_id == id && each.agent == agent && each.task == task) return &each;
    }
    SessionTelemetry& session = out_.sessions.emplace_back();
    session.program = known != kServices.end() ? std::string(known->program) : agent;
    session.agent = std::move(agent);
    session.session_id = id;
    session.task = task;
    return &session;
  }

  const OtlpRequest& request_;
  const std::int64_t now_ms_;
  ClaudeTelemetry claude_;
  ExportedSessions out_;
};

}  // namespace

ExportedSessions sessions_of(const OtlpRequest& request, std::int64_t now_ms) {
  return SessionSorter(request, now_ms).take();
}

}  // namespace shepherd
