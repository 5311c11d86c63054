// Chat sessions: the paths that chat clients use, for the default session and for sessions by name.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "api/chat_answer.h"
#include "api/chat_frames.h"
#include "api/chat_streams.h"
#include "api/handlers.h"
#include "api/limits.h"
#include "api/problem.h"
#include "api/query.h"
#include "api/status_map.h"
#include "chat/limits.h"
#include "json/request.h"
#include "json/text.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/limits.h"
#include "store/task_match.h"

namespace shepherd {
namespace {

void refuse_chat(Call& call, const Error& error) {
  call.send(chat_problem(error, http_status(error.code)));
}

// Answers the call if there is no model.
bool without_model(Call& call) {
  if (call.parts().chats != nullptr) return false;
  refuse_chat(call, {ErrorCode::unavailable,
                     "no_model",
                     "No model is configured. Add one under `models:` in the configuration file, for example "
                     "`local: {type: openai, url: \"http://127.0.0.1:8000/v1\"}`, and start the server again.",
                     {}});
  return true;
}

StreamTrail chat_trail(const Call& call, std::string task, std::uint64_t after) {
  StreamTrail trail;
  trail.principal = call.principal();
  trail.peer = call.request().peer;
  trail.task = std::move(task);
  trail.status = 200;
  trail.begun_wall_ms = call.parts().clock.wall_ms();
  trail.begun_steady_ms = call.parts().clock.steady_ms();
  trail.after = after;
  return trail;
}

std::string session_json(const SessionView& view, std::int64_t reserve) {
  return object_text([&](JsonObject& object) {
    object.flag("success", true);
    object.text("session_id", view.task);
    object.number("context_size", view.model.context_tokens);
    object.text("model", view.model.model);
    object.number("total_tokens", view.total_tokens);
    object.flag("tokens_exact", view.exact);
    object.number("system_tokens", view.system.empty() ? 0 : estimated_tokens(view.system));
    object.number("desired_completion_tokens", reserve);
    object.text_unless_empty("system_message", view.system);
    std::string& messages = object.member("messages");
    messages.push_back('[');
    if (!view.system.empty()) {
      write_object(messages, [&](JsonObject& system) {
        system.text("role", "system");
        system.text("content", view.system);
        system.number("tokens", estimated_tokens(view.system));
      });
    }
    for (const ChatMessage& message : view.messages) {
      if (messages.back() != '[') messages.push_back(',');
      append_chat_message(messages, message);
    }
    messages.push_back(']');
    std::string& tools = object.member("tools");
    tools.push_back('[');
    for (const Tool& tool : view.tools) {
      if (tools.back() != '[') tools.push_back(',');
      write_object(tools, [&](JsonObject& each) {
        each.text("name", tool.definition.name);
        each.text("description", tool.definition.description);
        each.json("parameters", tool.definition.parameters.empty() ? "{}" : tool.definition.parameters);
      });
    }
    tools.push_back(']');
  });
}

struct PromptBody {
  std::string prompt;
  bool stream = false;
  bool async = false;
  std::int64_t max_tokens = 0;
};

Result<PromptBody> read_prompt(const Call& call) {
  PromptBody body;
  const net::Request& request = call.request();
  std::string_view type = request.header("content-type");
  // Without a type it is JSON if it looks like a request.
  bool object_alone = type.empty() && request.body.starts_with('{');
  if (!type.starts_with("application/json") && !object_alone) {
    body.prompt = request.body;
    if (!is_utf8(body.prompt)) return fail(ErrorCode::invalid_argument, "bad_text", "The prompt is not UTF-8.");
  } else {
    JsonParser parser(request.body.size());
    auto object = request_object(parser, request.body);
    if (!object) return fail(object.error());
    std::optional<Error> error;
    JsonRequest reader(*object, "", error);
    reader.text("prompt", body.prompt);
    auto flag = [&](std::string_view key, bool& into) {
      auto member = reader.member(key);
      if (!member) return;
      if (!member->is_bool()) return reader.refuse(key, "true or false");
      into = member->get_bool().value();
    };
    flag("stream", body.stream);
    flag("async", body.async);
    if (auto member = reader.member("max_tokens")) {
      if (member->is_int64()) {
        body.max_tokens = member->get_int64().value();
      } else {
        reader.refuse("max_tokens", "a whole number: 0 for a share of the context, -1 for all that is left");
      }
    }
    if (error) return fail(*error);
  }
  if (body.prompt.empty()) return fail(ErrorCode::invalid_argument, "missing_prompt", "Missing prompt");
  if (body.prompt.size() > kMaxPromptBytes) {
    return fail(ErrorCode::too_large, "prompt_too_large",
                fmt::format("The prompt has {} bytes, and {} is the most. Put long texts into a file.",
                            body.prompt.size(), kMaxPromptBytes));
  }
  if (body.max_tokens < -1) body.max_tokens = -1;
  if (body.max_tokens == 0) body.max_tokens = call.parts().chats->config().max_tokens;
  return body;
}

// Why a command was not taken, as an error of a prompt.
Error as_prompt_error(const Error& error) {
  if (error.reason == "event_too_large" || error.reason == "command_too_large") {
    return {ErrorCode::too_large,
            "prompt_too_large",
            "This prompt is too long to wait in the queue: that is the log, whose events have at most " +
                std::to_string(kMaxEventBytes / kKiB) +
                " KiB. Send it without \"async\", or put long texts into a file.",
            {}};
  }
  if (error.reason == "too_many_commands") {
    return {
        ErrorCode::rate_limited,
        "queue_full",
        "Already " + std::to_string(kMaxTaskCommands) + " prompts with \"async\" wait in this session. Send it later.",
        {}};
  }
  if (error.reason == "task_ended") {
    return {ErrorCode::conflict, "session_ended", "This session has ended. Fork it to go on, or use another name.", {}};
  }
  return error;
}

// The same prompt as an operator's `queue` command: it is in the log and in the session's queue before it is
// acknowledged, so that what its sender sends next comes behind it.
void queue_prompt(Call call, PromptBody body) {
  auto shared = std::make_shared<Call>(std::move(call));
  Chats& chats = *shared->parts().chats;
  chats.view(shared->id(), [shared, &chats, body = std::move(body)](Result<SessionView> view) {
    if (!view) return refuse_chat(*shared, view.error());
    Command command;
    command.kind = CommandKind::queue;
    command.content = body.prompt;
    command.by = shared->principal()->person;
    command.metadata_json = object_text([&](JsonObject& object) { object.number(kMaxTokensMember, body.max_tokens); });
    auto answer = [shared](Result<std::size_t> position) {
      if (!position) return refuse_chat(*shared, as_prompt_error(position.error()));
      shared->send_json(200, object_text([&](JsonObject& object) {
                          object.flag("success", true);
                          object.flag("queued", true);
                          object.number("queue_position", std::max<std::size_t>(*position, 1));
                        }));
    };
    auto submitted = [&chats, task = view->task, command, answer](Result<Submitted> done) mutable {
      if (!done) return answer(fail(done.error()));
      if (done->state == CommandState::refused) return answer(fail(ErrorCode::conflict, "refused", done->reason));
      command.id = done->id;
      chats.command(task, std::move(command), [answer](Result<std::size_t> position) {
        // It is in the log, so it is answered after the next start.
        if (!position && position.error().reason == "shutting_down") position = 1;
        answer(std::move(position));
      });
    };
    shared->parts().steering.commands().submit(view->task, command, std::move(submitted));
  });
}

void stream_prompt(Call call, Prompt prompt) {
  auto shared = std::make_shared<Call>(std::move(call));
  Chats& chats = *shared->parts().chats;
  chats.view(shared->id(), [shared, prompt = std::move(prompt)](Result<SessionView> view) mutable {
    if (!view) return refuse_chat(*shared, view.error());
    DeltaPlace deltas = shared->parts().journal.delta_place(view->task);
    auto stream = std::make_shared<ChatTurnStream>(shared->core(), chat_trail(*shared, view->task, 0), view->task,
                                                   std::move(deltas));
    ChatRequest request;
    request.prompt = std::move(prompt);
    request.begun = [stream](std::uint64_t sequence) { stream->begun(sequence); };
    request.done = [stream](TurnEnd end) {
      stream->ended(end.sequence, end.response ? std::string() : end.response.error().message);
    };
    shared->parts().chats->request(view->task, std::move(request), [shared, stream](Result<std::size_t> accepted) {
      if (!accepted) return refuse_chat(*shared, accepted.error());
      shared->stream(chat_stream_head(), stream);
    });
  });
}

// What the model has said in its current call, and behind which event that is.
void write_answer(JsonObject& object, const SessionView::Answer& so_far) {
  object.object("answer", [&](JsonObject& answer) {
    answer.number("after", so_far.after);
    answer.text("block", so_far.block);
    answer.number("pieces", so_far.pieces);
    answer.text("text", so_far.text);
    answer.text_unless_empty("reasoning", so_far.reasoning);
    if (so_far.cut) answer.flag("cut", true);
  });
}

// An observer's first frames: its name, and the turn that has just begun.
std::string first_frames(const Call& call, const Chats::Place& place, bool resumed) {
  std::string client(call.request().header("x-client-id"));
  if (client.empty()) client = call.request().peer;
  std::string frames = chat_frame("connected", object_text([&](JsonObject& object) {
                                    object.text("client_id", client);
                                    object.text("session_id", place.task);
                                    if (resumed && place.answer) write_answer(object, *place.answer);
                                  }));
  for (const SessionLog::Recent& event : place.missed) frames += replayed_event(event);
  if (!place.said.empty()) {
    frames += chat_frame("delta", object_text([&](JsonObject& object) { object.text("delta", place.said); }));
  }
  return frames;
}

}  // namespace

void get_chat_session(Call call) {
  if (without_model(call)) return;
  auto shared = std::make_shared<Call>(std::move(call));
  Chats& chats = *shared->parts().chats;
  chats.read(shared->id(), [shared, &chats](Result<SessionView> view) {
    if (!view) return refuse_chat(*shared, view.error());
    const ModelFacts& facts = view->model;
    std::int64_t reserve = answer_reserve(facts.context_tokens, chats.config().max_tokens, facts.max_output_tokens);
    shared->send_json(200, session_json(*view, reserve));
  });
}

void post_chat_request(Call call) {
  if (without_model(call)) return;
  auto body = read_prompt(call);
  if (!body) {
    if (body.error().reason == "prompt_too_large") call.parts().chats->refused(call.id(), body.error());
    return refuse_chat(call, body.error());
  }
  Prompt prompt{body->prompt, body->max_tokens, call.principal()->person, ""};
  if (body->stream) return stream_prompt(std::move(call), std::move(prompt));
  if (body->async) return queue_prompt(std::move(call), std::move(*body));
  Chats& chats = *call.parts().chats;
  std::string session = call.id();
  call.drop_request();
  auto answer = std::make_shared<ChatAnswer>(std::move(call));
  ChatRequest request;
  request.prompt = std::move(prompt);
  request.done = [answer](TurnEnd end) { answer->turn_ended(std::move(end)); };
  chats.request(session, std::move(request), [&chats, session, answer](Result<std::size_t> accepted) {
    if (!accepted) {
      if (accepted.error().reason == "queue_full") chats.refused(session, accepted.error());
      return answer->refuse(accepted.error());
    }
    answer->wait();
  });
}

void get_chat_updates(Call call) {
  if (without_model(call)) return;
  auto shared = std::make_shared<Call>(std::move(call));
  Chats& chats = *shared->parts().chats;
  chats.observe(shared->id(), [shared](Result<Chats::Place> found) {
    if (!found) return refuse_chat(*shared, found.error());
    Chats::Place place = std::move(*found);
    std::string_view id = shared->request().header("last-event-id");
    std::uint64_t last = 0;
    bool resumed = !id.empty() &&
                   std::from_chars(id.data(), id.data() + id.size(), last).ptr == id.data() + id.size() &&
                   last <= place.after;
    if (resumed) {
      place.after = last;
      place.missed.clear();
      place.said.clear();
    }
    FeedOptions options;
    options.task = place.task;
    options.after = place.after;
    options.deltas = true;
    options.deltas_from = std::move(place.deltas);
    options.encoder = &chat_frames();
    auto stream =
        std::make_shared<ChatUpdates>(shared->core(), std::move(options), chat_trail(*shared, place.task, place.after),
                                      first_frames(*shared, place, resumed));
    shared->stream(chat_stream_head(), std::move(stream));
  });
}

void clear_chat(Call call) {
  if (without_model(call)) return;
  auto shared = std::make_shared<Call>(std::move(call));
  shared->parts().chats->clear(shared->id(), [shared](Result<void> cleared) {
    if (!cleared) return refuse_chat(*shared, cleared.error());
    shared->send_json(200, R"({"success":true,"message":"Conversation cleared"})");
  });
}

void cancel_chat(Call call) {
  if (without_model(call)) return;
  auto shared = std::make_shared<Call>(std::move(call));
  shared->parts().chats->cancel(shared->id(), [shared](Result<bool> cancelled) {
    if (!cancelled) return refuse_chat(*shared, cancelled.error());
    shared->send_json(200, object_text([&](JsonObject& object) {
                        object.flag("success", true);
                        object.flag("cancelled", *cancelled);
                      }));
  });
}

void get_chat_health(Call call) {
  auto shared = std::make_shared<Call>(std::move(call));
  auto answer = [shared](bool connected) {
    shared->send_json(200, object_text([&](JsonObject& object) {
                        object.text("status", "ok");
                        object.text("server_type", "cli");
                        object.flag("backend_connected", connected);
                        object.flag("model_configured", shared->parts().chats != nullptr);
                      }));
  };
  if (shared->parts().chats == nullptr) return answer(false);
  shared->parts().chats->health(answer);
}

void get_chat_status(Call call) {
  if (without_model(call)) return;
  auto shared = std::make_shared<Call>(std::move(call));
  Chats& chats = *shared->parts().chats;
  chats.view(shared->id(), [shared, &chats](Result<SessionView> view) {
    if (!view) return refuse_chat(*shared, view.error());
    shared->send_json(200, object_text([&](JsonObject& object) {
                        object.text("status", "ok");
                        object.text("server_type", "cli");
                        object.number("uptime_seconds", chats.uptime_seconds());
                        object.number("requests_processed", chats.requests());
                        object.number("pid", static_cast<std::int64_t>(getpid()));
                        object.text("model", view->model.model);
                        object.number("context_size", view->model.context_tokens);
                        object.number("total_tokens", view->total_tokens);
                        object.flag("processing", view->processing);
                        object.number("queue_depth", view->queued);
                        object.number("messages", view->messages.size());
                        if (!view->processing) return;
                        std::string_view text = first_characters(view->current_request, kCurrentRequestCharacters);
                        bool cut = text.size() < view->current_request.size();
                        object.text("current_request", std::string(text) + (cut ? "..." : ""));
                        if (!view->answer) return;
                        write_answer(object, *view->answer);
                      }));
  });
}

void list_chats(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return refuse_chat(call, query.error());
  auto limit = query->limit(kMaxTaskPage, kMaxTaskPage);
  if (!limit) return refuse_chat(call, limit.error());
  TaskFilter filter;
  filter.agent = kChatAgent;
  filter.before = query->text("before").value_or("");
  filter.limit = *limit + 1;  // one more shows whether there is a next page
  Call::on_worker(std::move(call), [filter = std::move(filter)](Call listing) {
    auto rows = listing.parts().journal.store().rows(filter);
    if (!rows) return refuse_chat(listing, rows.error());
    bool more = rows->size() == filter.limit;
    if (more) rows->pop_back();
    listing.send_json(200, object_text([&](JsonObject& object) {
                        object.flag("success", true);
                        std::string& out = object.member("sessions");
                        out.push_back('[');
                        for (const TaskRow& row : *rows) {
                          if (out.back() != '[') out.push_back(',');
                          write_object(out, [&](JsonObject& each) {
                            each.text("id", row.spec.id);
                            each.text("title", row.spec.title);
                            each.text("state", name(row.state.state));
                            each.text("model", row.state.model);
                            each.time("created_at", row.created_ms);
                            each.time("used_at", row.state.last_event_ms);
                          });
                        }
                        out.push_back(']');
                        if (more) object.text("next", place_after(rows->back()));
                      }));
  });
}

void fork_chat(Call call) {
  if (without_model(call)) return;
  std::string id;
  std::int64_t through = 0;
  std::optional<Error> error;
  JsonParser parser(call.request().body.size());
  auto object = request_object(parser, call.request().body);
  if (!object) return refuse_chat(call, object.error());
  JsonRequest reader(*object, "", error);
  reader.text("id", id);
  reader.whole("message", through);
  if (error) return refuse_chat(call, *error);
  auto shared = std::make_shared<Call>(std::move(call));
  shared->parts().chats->fork(shared->id(), static_cast<std::uint64_t>(through), id,
                              [shared](Result<std::string> forked) {
                                if (!forked) return refuse_chat(*shared, forked.error());
                                shared->send_json(201, object_text([&](JsonObject& answer) {
                                                    answer.flag("success", true);
                                                    answer.text("id", *forked);
                                                  }));
                              });
}

}  // namespace shepherd
