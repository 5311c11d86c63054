// The handlers of the route table, by file. Each answers its call exactly once, now or later.
// Threads: called on the connection's io thread; they must not block there.
#pragma once

#include <cstdint>

#include "api/call.h"

namespace shepherd {

// task_routes.cpp
void create_task(Call call);
void list_tasks(Call call);
void get_task(Call call);
void patch_task(Call call);
void delete_task(Call call);

// event_routes.cpp
void post_events(Call call);
void post_status(Call call);
void post_deltas(Call call);

// command_routes.cpp
void post_command(Call call);

// runner_routes.cpp
void claim_task(Call call);
void renew_lease(Call call);
void report_runner(Call call);
void remove_runner(Call call);
void list_runners(Call call);
void get_task_data(Call call);
void get_repo_token(Call call);

// hook_routes.cpp
void post_claude_hooks(Call call);

// otlp_routes.cpp
void post_otlp_logs(Call call);
void post_otlp_metrics(Call call);
void post_otlp_traces(Call call);

// feed_routes.cpp
void get_task_events(Call call);
void get_all_events(Call call);

// page_routes.cpp
void get_event_page(Call call);  // get_task_events for a client that wants neither WebSocket nor event stream
void get_event(Call call);
void get_event_detail(Call call);

// inbox_routes.cpp
void get_inbox(Call call);
void dismiss_need(Call call);

// replay_routes.cpp
void get_timeline(Call call);
void get_task_at(Call call, std::uint64_t sequence);  // get_task with ?at=

// findings_routes.cpp
void get_findings(Call call);

// stats_routes.cpp
void get_stats(Call call);

// observability_routes.cpp
void list_agents(Call call);
void get_session(Call call);

// search_routes.cpp
void search(Call call);

// token_routes.cpp
void create_token(Call call);
void list_tokens(Call call);
void revoke_token(Call call);
void create_ticket(Call call);

// login_routes.cpp
void login(Call call);
void login_with_token(Call call);
void create_login_link(Call call);
void logout(Call call);
void whoami(Call call);

// chat_routes.cpp
void get_chat_session(Call call);
void post_chat_request(Call call);
void get_chat_updates(Call call);
void clear_chat(Call call);
void cancel_chat(Call call);
void get_chat_health(Call call);
void get_chat_status(Call call);
void list_chats(Call call);
void fork_chat(Call call);

// completions_routes.cpp
void list_completion_models(Call call);
void get_completion_model(Call call);
void complete_chat(Call call);

// health_routes.cpp
void healthz(Call call);
void readyz(Call call);
void metrics(Call call);

// asset_routes.cpp
void openapi(Call call);
void page(Call call);
void page_asset(Call call);

}  // namespace shepherd
