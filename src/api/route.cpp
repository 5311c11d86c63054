#include "api/route.h"

#include <algorithm>
#include <array>

#include "api/handlers.h"
#include "api/limits.h"
#include "net/limits.h"
#include "otlp/limits.h"

namespace shepherd {
namespace {

constexpr auto kNone = BodyKind::none;
constexpr auto kJson = BodyKind::json;

// clang-format off
constexpr Route kRoutes[] = {
    // method, pattern, listeners, need, body, maximum body bytes, stream, handler
    {"POST", "/api/v1/tasks/{id}/events", kOnInternal, Need::produce, BodyKind::events, kMaxBodyBytes, false, post_events},
    {"GET", "/api/v1/tasks/{id}/events", kOnBoth, Need::view, kNone, 0, true, get_task_events},
    {"GET", "/api/v1/tasks/{id}/events/{sequence}", kOnBoth, Need::view, kNone, 0, false, get_event},
    {"GET", "/api/v1/tasks/{id}/events/{sequence}/detail", kOnBoth, Need::view, kNone, 0, false, get_event_detail},
    {"POST", "/api/v1/tasks/{id}/status", kOnInternal, Need::produce, kJson, kMaxTaskBodyBytes, false, post_status},
    {"POST", "/api/v1/tasks/{id}/deltas", kOnInternal, Need::produce, kJson, kMaxTaskBodyBytes, false, post_deltas},
    {"POST", "/api/v1/claims", kOnInternal, Need::anyone, kJson, kMaxSmallBodyBytes, false, claim_task},
    {"PUT", "/api/v1/tasks/{id}/lease", kOnInternal, Need::produce, kJson, kMaxSmallBodyBytes, false, renew_lease},
    {"PUT", "/api/v1/runners/{id}", kOnInternal, Need::anyone, kJson, kMaxTaskBodyBytes, false, report_runner},
    {"DELETE", "/api/v1/runners/{id}", kOnInternal, Need::anyone, kNone, 0, false, remove_runner},
    {"GET", "/api/v1/runners", kOnBoth, Need::view, kNone, 0, false, list_runners},
    {"GET", "/api/v1/tasks/{id}/data", kOnInternal, Need::produce, kNone, 0, false, get_task_data},
    {"GET", "/api/v1/tasks/{id}/token", kOnInternal, Need::produce, kNone, 0, false, get_repo_token},
    {"POST", "/api/v1/hooks/claude", kOnInternal, Need::produce, kJson, kMaxBodyBytes, false, post_claude_hooks},
    {"POST", "/v1/logs", kOnInternal, Need::produce, BodyKind::otlp, kMaxOtlpBytes, false, post_otlp_logs},
    {"POST", "/v1/metrics", kOnInternal, Need::produce, BodyKind::otlp, kMaxOtlpBytes, false, post_otlp_metrics},
    {"POST", "/v1/traces", kOnInternal, Need::produce, BodyKind::otlp, kMaxOtlpBytes, false, post_otlp_traces},
    {"GET", "/api/v1/events", kOnBoth, Need::anyone, kNone, 0, true, get_all_events},

    {"POST", "/api/v1/tasks", kOnPublic, Need::command, kJson, kMaxTaskRequestBytes, false, create_task},
    {"GET", "/api/v1/tasks", kOnPublic, Need::view, kNone, 0, false, list_tasks},
    {"GET", "/api/v1/tasks/{id}", kOnPublic, Need::view, kNone, 0, false, get_task},
    {"PATCH", "/api/v1/tasks/{id}", kOnPublic, Need::command, kJson, kMaxSmallBodyBytes, false, patch_task},
    {"DELETE", "/api/v1/tasks/{id}", kOnPublic, Need::administer, kNone, 0, false, delete_task},
    {"POST", "/api/v1/tasks/{id}/commands", kOnPublic, Need::command, kJson, kMaxTaskBodyBytes, false, post_command},
    {"GET", "/api/v1/tasks/{id}/timeline", kOnPublic, Need::view, kNone, 0, false, get_timeline},
    {"GET", "/api/v1/inbox", kOnPublic, Need::anyone, kNone, 0, false, get_inbox},
    {"POST", "/api/v1/inbox/dismiss", kOnPublic, Need::command, kJson, kMaxSmallBodyBytes, false, dismiss_need},
    {"GET", "/api/v1/findings", kOnPublic, Need::view, kNone, 0, false, get_findings},
    {"GET", "/api/v1/stats", kOnPublic, Need::view, kNone, 0, false, get_stats},
    {"GET", "/api/v1/observability/agents", kOnPublic, Need::view, kNone, 0, false, list_agents},
    {"GET", "/api/v1/observability/agents/{id}/events", kOnPublic, Need::view, kNone, 0, true, get_task_events},
    {"GET", "/api/v1/observability/sessions/{id}", kOnPublic, Need::view, kNone, 0, false, get_session},
    {"GET", "/api/v1/observability/metrics", kOnPublic, Need::metrics, kNone, 0, false, metrics},
    {"GET", "/api/v1/observability/dashboard/ws", kOnPublic, Need::anyone, kNone, 0, true, get_all_events},
    {"GET", "/api/v1/search", kOnPublic, Need::view, kNone, 0, false, search},

    {"POST", "/api/v1/tokens", kOnPublic, Need::administer, kJson, kMaxSmallBodyBytes, false, create_token},
    {"GET", "/api/v1/tokens", kOnPublic, Need::administer, kNone, 0, false, list_tokens},
    {"DELETE", "/api/v1/tokens/{id}", kOnPublic, Need::administer, kNone, 0, false, revoke_token},
    {"POST", "/api/v1/tickets", kOnPublic, Need::anyone, kNone, 0, false, create_ticket},
    {"GET", "/login", kOnPublic, Need::open, kNone, 0, false, login},
    {"POST", "/login", kOnPublic, Need::open, BodyKind::form, kMaxSmallBodyBytes, false, login_with_token},
    {"POST", "/api/v1/login-links", kOnPublic, Need::person, kNone, 0, false, create_login_link},
    {"POST", "/api/v1/logout", kOnPublic, Need::anyone, kNone, 0, false, logout},
    {"GET", "/api/v1/whoami", kOnPublic, Need::anyone, kNone, 0, false, whoami},

    {"GET", "/session", kOnPublic, Need::view, kNone, 0, false, get_chat_session},
    {"POST", "/request", kOnPublic, Need::command, BodyKind::prompt, kMaxPromptBodyBytes, false, post_chat_request},
    {"GET", "/updates", kOnPublic, Need::view, kNone, 0, true, get_chat_updates},
    {"POST", "/clear", kOnPublic, Need::command, kNone, 0, false, clear_chat},
    {"POST", "/cancel", kOnPublic, Need::command, kNone, 0, false, cancel_chat},
    {"GET", "/health", kOnPublic, Need::open, kNone, 0, false, get_chat_health},
    {"GET", "/status", kOnPublic, Need::view, kNone, 0, false, get_chat_status},
    {"GET", "/sessions", kOnPublic, Need::view, kNone, 0, false, list_chats},
    {"DELETE", "/sessions/{id}", kOnPublic, Need::administer, kNone, 0, false, delete_task},
    {"GET", "/sessions/{id}/session", kOnPublic, Need::view, kNone, 0, false, get_chat_session},
    {"POST", "/sessions/{id}/request", kOnPublic, Need::command, BodyKind::prompt, kMaxPromptBodyBytes, false, post_chat_request},
    {"GET", "/sessions/{id}/updates", kOnPublic, Need::view, kNone, 0, true, get_chat_updates},
    {"POST", "/sessions/{id}/clear", kOnPublic, Need::command, kNone, 0, false, clear_chat},
    {"POST", "/sessions/{id}/cancel", kOnPublic, Need::command, kNone, 0, false, cancel_chat},
    {"GET", "/sessions/{id}/health", kOnPublic, Need::open, kNone, 0, false, get_chat_health},
    {"GET", "/sessions/{id}/status", kOnPublic, Need::view, kNone, 0, false, get_chat_status},
    {"POST", "/sessions/{id}/fork", kOnPublic, Need::command, kJson, kMaxSmallBodyBytes, false, fork_chat},

    {"GET", "/v1/models", kOnPublic, Need::view, kNone, 0, false, list_completion_models},
    {"GET", "/v1/models/{id}", kOnPublic, Need::view, kNone, 0, false, get_completion_model},
    {"GET", "/v1/models/{id}/{name}", kOnPublic, Need::view, kNone, 0, false, get_completion_model},
    {"POST", "/v1/chat/completions", kOnPublic, Need::command, kJson, kMaxBodyBytes, false, complete_chat},

    {"GET", "/healthz", kOnBoth, Need::open, kNone, 0, false, healthz},
    {"GET", "/readyz", kOnBoth, Need::open, kNone, 0, false, readyz},
    {"GET", "/metrics", kOnPublic, Need::metrics, kNone, 0, false, metrics},
    {"GET", "/openapi.json", kOnPublic, Need::open, kNone, 0, false, openapi},
    {"GET", "/", kOnPublic, Need::open, kNone, 0, false, page},
    {"GET", "/assets/{name}", kOnPublic, Need::open, kNone, 0, false, page_asset},
};
// clang-format on

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

bool is_openai(std::string_view path) {
  return path.starts_with("/v1/") && !is_otlp(path);
}

bool is_otlp(std::string_view path) {
  return path == "/v1/logs" || path == "/v1/metrics" || path == "/v1/traces";
}

bool is_chat(const Route& route) {
  constexpr std::array<std::string_view, 7> kDefault{"/session", "/request", "/updates", "/clear",
                                                     "/cancel",  "/health",  "/status"};
  return route.pattern.starts_with("/sessions") ||
         std::find(kDefault.begin(), kDefault.end(), route.pattern) != kDefault.end();
}

}  // namespace shepherd
