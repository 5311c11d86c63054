#include "chat/chats.h"

#include <algorithm>
#include <future>
#include <ranges>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "chat/active_tasks.h"
#include "chat/fork.h"
#include "chat/limits.h"
#include "json/scan.h"
#include "model/condense.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr std::string_view kRecordKind = "chat";
constexpr std::string_view kDefaultKey = "default";
constexpr ReadLimit kLoadPage{kLoadEvents, kLoadBytes};

Error not_a_chat(const std::string& task) {
  return {ErrorCode::conflict, "not_a_chat", "The task " + task + " is not a chat session. Use another name.", {}};
}

Error shutting_down() {
  return {ErrorCode::unavailable, "shutting_down", "Server is shutting down", {}};
}

// A task that was created to be answered: its description is the first prompt. One that resumes a session has that
// session's messages before it.
bool waits_for_description(const TaskInfo& spec, const TaskState& state) {
  if (state.last_sequence == 0) return true;
  return !spec.resume_of.empty() && state.message == forked_line(spec.resume_of);
}

std::optional<SessionView::Answer> answer_so_far(const ChatTurn& turn, const ChatSession& session) {
  if (turn.first_sequence() == 0 || (turn.shown().empty() && turn.shown_reasoning().empty())) return std::nullopt;
  SessionView::Answer answer;
  answer.after = session.conversation().last_sequence();
  answer.block = turn.block();
  answer.pieces = session.live_pieces(answer.block);
  answer.text = first_characters(turn.shown(), kInlineMessageBytes);
  answer.reasoning = first_characters(turn.shown_reasoning(), kInlineMessageBytes);
  answer.cut = answer.text.size() < turn.shown().size() || answer.reasoning.size() < turn.shown_reasoning().size();
  return answer;
}

}  // namespace

Chats::Chats(ChatParts parts, ChatConfig config)
    : parts_(std::move(parts)), config_(std::move(config)), began_ms_(parts_.log.clock.steady_ms()) {}

Chats::~Chats() = default;

Result<void> Chats::start() {
  FollowOptions options;
  options.name = "chat";
  options.types.known = mask_of(EventType::command);
  auto follower = parts_.log.journal.follow(std::move(options), parts_.log.loop,
                                            [this](News news, std::move_only_function<void(bool)> done) {
                                              take(news);
                                              done(true);
                                            });
  if (!follower) return fail(follower.error());
  follower_ = *std::move(follower);
  return each_active_task(parts_.log.journal.store(), kChatAgent, [this](const TaskRow& row) {
    bool idle =
        row.state.state == State::paused && row.state.commands.empty() && !waits_for_description(row.spec, row.state);
    if (idle) return;
    // Loading it recovers it.
    parts_.log.loop.post([this, task = row.spec.id] { with_task(task, [](Result<std::shared_ptr<ChatSession>>) {}); });
  });
}

void Chats::stop() {
  if (follower_) follower_->stop();
  auto no_turn = std::make_shared<std::promise<void>>();
  std::future<void> ended = no_turn->get_future();
  std::promise<void> told;
  parts_.log.loop.post([this, no_turn, &told] {
    stopped_ = true;
    no_turn_ = no_turn;
    for (auto& [task, session] : sessions_) session->stop(shutting_down());
    tell_no_turn();
    told.set_value();
  });
  told.get_future().wait();
  ended.wait_for(kTurnEndWait);
}

// For stop(), once the last turn has ended.
void Chats::tell_no_turn() {
  auto runs = [](const std::shared_ptr<ChatSession>& session) { return session->turn() != nullptr; };
  if (no_turn_ == nullptr || std::ranges::any_of(leaving_, runs) ||
      std::ranges::any_of(sessions_ | std::views::values, runs)) {
    return;
  }
  std::exchange(no_turn_, nullptr)->set_value();
}

void Chats::tick() {
  parts_.log.loop.post([this] { unload_idle(); });
}

void Chats::unload_idle() {
  std::int64_t now_ms = parts_.log.clock.steady_ms();
  std::erase_if(sessions_, [&](const auto& entry) {
    const ChatSession& session = *entry.second;
    return !session.busy() && now_ms - session.used_ms() > kIdleSession.count();
  });
}

// --- sessions by name ---

void Chats::with(std::string session, WithSession use) {
  parts_.log.loop.post([this, session = std::move(session), use = std::move(use)]() mutable {
    if (stopped_) {
      return use(fail(shutting_down()));
    }
    if (session.empty()) return resolve_default(std::move(use));
    if (!is_task_id(session)) {
      return use(fail(ErrorCode::invalid_argument, "bad_session_name",
                      "A session's name has letters, digits, '.', '_' and '-', at most 128 of them."));
    }
    with_task(session, std::move(use));
  });
}

// The default session is a record, so that a new one takes the place of one that has ended.
void Chats::resolve_default(WithSession use) {
  if (!default_task_.empty()) {
    auto found = sessions_.find(default_task_);
    if (found != sessions_.end() && !found->second->ended()) return use(found->second);
  }
  auto fresh = first_write(make_task_id(parts_.log.clock.wall_ms(), parts_.random));
  if (!fresh) return use(fail(fresh.error()));
  // The record and the task in one write: another caller at the same time finds both, or neither.
  parts_.log.journal.write(
      [fresh = std::move(*fresh)](WriteTxn& txn) -> Result<std::string> {
        auto current = txn.record(std::string(kRecordKind), std::string(kDefaultKey));
        if (!current) return fail(current.error());
        if (!current->empty()) {
          auto row = txn.row(*current);
          if (row && !is_terminal(row->state.state)) return *current;
        }
        auto kept = txn.put_record(std::string(kRecordKind), std::string(kDefaultKey), fresh.spec.id);
        if (!kept) return fail(kept.error());
        return write_first(txn, fresh);
      },
      [this, use = std::move(use)](Result<std::string> task) mutable {
        parts_.log.loop.post([this, task = std::move(task), use = std::move(use)]() mutable {
          if (!task) return use(fail(task.error()));
          default_task_ = *task;
          with_task(*task, std::move(use));
        });
      });
}

// A session that waits for a prompt, not for a runner.
Result<Chats::FirstWrite> Chats::first_write(const std::string& task) const {
  FirstWrite first;
  first.spec.id = task;
  first.spec.title = "Chat";
  first.spec.agent = kChatAgent;
  first.spec.mode = name(AgentMode::interactive);
  first.events.task = task;
  first.events.received_ms = parts_.log.clock.wall_ms();
  auto drafts = SessionLog(parts_.log, task).drafts({state_event(State::paused, "waits for the first prompt")});
  if (!drafts) return fail(drafts.error());
  first.events.drafts = std::move(*drafts);
  return first;
}

// One write: a task without events would be taken for a new session and loaded as one.
Result<std::string> Chats::write_first(WriteTxn& txn, const FirstWrite& first) {
  auto created = txn.create_task(first.spec, first.events.received_ms, "");
  if (!created) return fail(created.error());
  if (created->existed) {
    return fail(ErrorCode::conflict, "task_exists", "There is a task with this id. Use another one.");
  }
  auto appended = txn.append(first.events);
  if (!appended) return fail(appended.error());
  if (first.basis) {
    auto kept =
        txn.put_record(std::string(kBasisRecords), first.spec.id, encode_basis(*first.basis, created->task.created_ms));
    if (!kept) return fail(kept.error());
  }
  return first.spec.id;
}

void Chats::with_task(const std::string& task, WithSession use) {
  if (auto found = sessions_.find(task); found != sessions_.end()) {
    found->second->touch();
    return use(found->second);
  }
  auto& loading = loading_[task];
  loading.waiting.push_back(std::move(use));
  if (loading.waiting.size() == 1) load(task);
}

void Chats::load(const std::string& task) {
  parts_.reads.post([this, task] {
    auto found = read(task);
    parts_.log.loop.post([this, task, found = std::move(found)]() mutable {
      if (found || found.error().reason != "unknown_task") return loaded(task, std::move(found));
      create(task, [this, task](Result<void> created) {
        if (!created) return loaded(task, fail(created.error()));
        load(task);
      });
    });
  });
}

Result<Chats::Loaded> Chats::read(const std::string& id) const {
  const EventStore& store = parts_.log.journal.store();
  auto task = store.task(id);
  if (!task) return fail(task.error());
  if (task->spec.agent != kChatAgent) return fail(not_a_chat(id));
  Loaded loaded;
  loaded.allowed_tools = task->spec.allowed_tools;
  if (waits_for_description(task->spec, task->state)) loaded.prompt = task->spec.description;
  loaded.row = {static_cast<const TaskInfo&>(task->spec), task->state, task->created_ms};
  if (task->state.last_sequence == 0 && !task->spec.resume_of.empty()) {
    auto earlier = read(task->spec.resume_of);
    loaded.resumed = earlier ? Result<Conversation>(std::move(earlier->conversation)) : fail(earlier.error());
  }
  auto record = store.record(std::string(kBasisRecords), id);
  if (!record) return fail(record.error());
  if (auto kept = decode_basis(*record, task->created_ms)) loaded.kept = std::move(*kept);
  for (bool whole = false; !whole;) {
    auto read = read_log(id, loaded);
    if (!read) return fail(read.error());
    whole = *read;
  }
  std::vector<std::uint64_t> cut = loaded.conversation.cut();
  for (std::uint64_t sequence : cut) {
    auto detail = store.detail(id, sequence);
    if (detail) loaded.conversation.restore(sequence, *detail);
  }
  return loaded;
}

// False if retention dropped events between two pages: what was read does not belong together.
Result<bool> Chats::read_log(const std::string& id, Loaded& loaded) const {
  loaded.conversation = {};
  bool late = false;  // the log does not begin at its first event any more
  for (std::uint64_t after = 0;;) {
    auto page = parts_.log.journal.store().read(id, after, kLoadPage);
    if (!page) return fail(page.error());
    if (after > 0 && page->first > after + 1) return false;
    if (after == 0 && page->first > 1) {
      late = true;
      loaded.conversation.begin_late(loaded.kept, loaded.row.state.usage);
    }
    std::uint64_t before = after;
    for (const BatchPtr& batch : page->batches) {
      for (std::size_t i = 0; i < batch->size(); ++i) {
        std::uint64_t sequence = batch->first + i;
        if (sequence <= after) continue;
        loaded.conversation.apply(sequence, batch->types[i], batch->event(i));
        after = sequence;
      }
    }
    if (after >= page->head || after == before) break;
  }
  if (late) loaded.conversation.drop_partial_turn();
  return true;
}

void Chats::create(const std::string& task, std::function<void(Result<void>)> done) {
  auto fresh = first_write(task);
  if (!fresh) return done(fail(fresh.error()));
  parts_.log.journal.write([fresh = std::move(*fresh)](WriteTxn& txn) { return write_first(txn, fresh); },
                           [this, done = std::move(done)](Result<std::string> made) {
                             parts_.log.loop.post([done, made = std::move(made)] {
                               if (!made && made.error().reason != "task_exists") return done(fail(made.error()));
                               done({});
                             });
                           });
}

std::shared_ptr<ChatSession> Chats::make_session(const std::string& task, Loaded loaded) {
  auto log = std::make_shared<SessionLog>(parts_.log, task);
  log->start_from(std::move(loaded.conversation), std::move(loaded.kept));
  auto waits = [this](bool begins) {
    running_ += begins ? -1 : 1;
    if (begins) parts_.log.loop.post([this] { start_turns(); });
  };
  TurnParts parts{config_, parts_.model, parts_.tools, parts_.price, std::move(loaded.allowed_tools), waits};
  auto idle = [this](ChatSession& session) {
    --running_;
    ready(session);
    start_turns();
    auto gone = std::find(leaving_.begin(), leaving_.end(), session.shared_from_this());
    if (gone != leaving_.end()) {
      parts_.log.loop.post([session = std::move(*gone)] {});  // which is the caller
      leaving_.erase(gone);
    }
    tell_no_turn();
  };
  return std::make_shared<ChatSession>(
      std::move(parts), std::move(log), [this](ChatSession& session) { ready(session); }, std::move(idle));
}

void Chats::loaded(const std::string& task, Result<Loaded> found) {
  auto answer = [this, task](Result<std::shared_ptr<ChatSession>> session) {
    auto waiting = std::move(loading_[task].waiting);
    loading_.erase(task);
    for (WithSession& use : waiting) use(session);
  };
  if (!found) return answer(fail(found.error()));
  TaskRow row = found->row;
  std::string prompt = found->prompt;
  auto resumed = std::move(found->resumed);
  std::string resume_of = row.spec.resume_of;
  auto session = make_session(task, std::move(*found));
  auto open = [this, task, row = std::move(row), prompt = std::move(prompt), session, answer] {
    TaskState state = row.state;
    session->recover(state, [this, task, row, prompt, session, answer] { opened(session, row, prompt, answer); });
  };
  if (!resumed) return open();
  begin_resumed(session, resume_of, *resumed, [open, answer](const Result<void>& begun) {
    if (!begun) return answer(fail(begun.error()));
    open();
  });
}

void Chats::opened(const std::shared_ptr<ChatSession>& session, const TaskRow& row, const std::string& prompt,
                   const std::function<void(Result<std::shared_ptr<ChatSession>>)>& answer) {
  const std::string& task = row.spec.id;
  sessions_[task] = session;
  if (is_terminal(row.state.state)) session->end("this session has ended");
  answer(session);
  // A task that was created with a prompt, and commands that no process has settled.
  if (!prompt.empty()) static_cast<void>(session->add({{prompt, config_.max_tokens, "", ""}, {}, {}}));
  if (is_terminal(row.state.state)) return;
  for (const TaskCommand& command : row.state.commands) {
    bool open = command.state == CommandState::accepted || command.state == CommandState::delivered;
    if (open) take_open_command(task, command);
  }
}

void Chats::take_open_command(const std::string& task, const TaskCommand& command) {
  parts_.reads.post([this, task, id = command.id, sequence = command.sequence] {
    std::optional<Command> decoded;
    auto page = parts_.log.journal.store().read(task, sequence - 1, {1, kLoadBytes});
    if (!page) return log_warn("chat {}: cannot read the command {}: {}", task, id, page.error().message);
    for (const BatchPtr& batch : page->batches) {
      if (sequence < batch->first || sequence > batch->last()) continue;
      auto found = decode_command(find_member(batch->event(sequence - batch->first), "data"));
      if (found) decoded = std::move(*found);
    }
    parts_.log.loop.post([this, task, id, command = std::move(decoded)] {
      auto session = sessions_.find(task);
      if (session == sessions_.end()) return;
      if (command) return static_cast<void>(session->second->command(*command));
      session->second->refuse_command(id, "retention dropped it from the log; send it again");
    });
  });
}

// A task with `resumeOf` begins as a fork of that session, and then answers its own prompt.
void Chats::begin_resumed(const std::shared_ptr<ChatSession>& session, const std::string& from,
                          const Result<Conversation>& resumed, std::function<void(Result<void>)> done) {
  std::vector<ChatEvent> events;
  if (resumed) {
    events = forked_events(*resumed, 0, facts_of(session->task(), session->tools()), from);
  } else {
    std::string why = "The session " + from + " cannot be resumed: " + resumed.error().message;
    events = {error_event("cannot_resume", why, true), state_event(State::failed, why)};
    session->end(why);
  }
  session->log().append(std::move(events), [done = std::move(done)](Result<std::uint64_t> begun) {
    done(begun ? Result<void>() : fail(begun.error()));
  });
}

// --- turns ---

void Chats::ready(ChatSession& session) {
  if (!session.has_next()) return;
  turns_.push_back(session.weak_from_this());
  start_turns();
}

void Chats::start_turns() {
  while (running_ < config_.parallel_turns && !turns_.empty() && !stopped_) {
    auto session = turns_.front().lock();
    turns_.pop_front();
    if (session == nullptr || !session->has_next()) continue;
    ++running_;
    session->run_next();
  }
}

// --- what the log says ---

void Chats::take(const News& news) {
  for (const std::string& task : news.deleted) {
    auto found = sessions_.find(task);
    if (found == sessions_.end()) continue;
    std::shared_ptr<ChatSession> session = std::move(found->second);
    sessions_.erase(found);
    // Its turn still has to end: someone waits for it, and it takes the place of another one.
    if (session->turn() != nullptr) leaving_.push_back(session);
    session->end("this session was deleted");
  }
  if (!news.deleted.empty()) forget(news.deleted);
  for (const RowPtr& row : news.rows) {
    if (row->spec.agent != kChatAgent) continue;
    // A task that was created to be answered.
    if (row->state.state == State::queued && row->state.last_sequence == 0 && !loading_.contains(row->spec.id)) {
      with_task(row->spec.id, [](Result<std::shared_ptr<ChatSession>>) {});
    }
  }
  for (const BatchPtr& batch : news.batches) {
    bool chat = false;
    for (const RowPtr& row : news.rows) chat = chat || (row->spec.id == batch->task && row->spec.agent == kChatAgent);
    if (!chat) continue;
    for (std::size_t i = 0; i < batch->size(); ++i) {
      if (batch->types[i] != EventType::command) continue;
      auto command = decode_command(find_member(batch->event(i), "data"));
      if (!command) continue;
      with_task(batch->task, [command = std::move(*command)](Result<std::shared_ptr<ChatSession>> session) {
        if (session) static_cast<void>((*session)->command(command));
      });
    }
  }
}

// Removes the records of deleted tasks.
void Chats::forget(const std::vector<std::string>& tasks) {
  parts_.log.journal.write(
      [tasks](WriteTxn& txn) -> Result<void> {
        for (const std::string& task : tasks) {
          auto record = txn.record(std::string(kBasisRecords), task);
          if (!record) return fail(record.error());
          if (record->empty() || txn.row(task)) continue;  // a new task has the id
          if (auto removed = txn.put_record(std::string(kBasisRecords), task, ""); !removed) return removed;
        }
        return {};
      },
      [](const Result<void>& forgotten) {
        if (!forgotten) log_warn("chat: records of deleted sessions stay: {}", forgotten.error().message);
      });
}

// --- the calls of the API ---

void Chats::request(std::string session, ChatRequest request, std::function<void(Result<std::size_t>)> accepted) {
  requests_.fetch_add(1, std::memory_order_relaxed);
  with(std::move(session), [request = std::move(request),
                            accepted = std::move(accepted)](Result<std::shared_ptr<ChatSession>> found) mutable {
    if (!found) return accepted(fail(found.error()));
    auto added = (*found)->add(std::move(request));
    if (!added) return accepted(fail(added.error()));
    accepted((*found)->waiting() + ((*found)->turn() != nullptr ? 1 : 0));
  });
}

void Chats::view(std::string session, std::function<void(Result<SessionView>)> done) {
  with(std::move(session), [this, done = std::move(done)](Result<std::shared_ptr<ChatSession>> found) {
    if (!found) return done(fail(found.error()));
    done(view_of(**found));
  });
}

void Chats::read(std::string session, std::function<void(Result<SessionView>)> done) {
  with(std::move(session), [this, done = std::move(done)](Result<std::shared_ptr<ChatSession>> found) {
    if (!found) return done(fail(found.error()));
    (*found)->note_read();
    done(view_of(**found));
  });
}

SessionView Chats::view_of(const ChatSession& shown) {
  const Conversation& talk = shown.conversation();
  SessionView view;
  view.task = shown.task();
  view.model = parts_.model.facts();
  view.system = talk.started() ? talk.system() : config_.system;
  view.messages = talk.messages();
  view.tools = shown.tools();
  view.total_tokens = talk.total_tokens();
  if (!talk.started() && !view.system.empty()) view.total_tokens = estimated_tokens(view.system);
  view.exact = talk.messages().empty() ? view.model.counts_exactly : talk.exact();
  view.processing = shown.turn() != nullptr;
  view.queued = shown.waiting();
  if (const ChatTurn* turn = shown.turn(); turn != nullptr) {
    view.current_request = turn->prompt().text;
    view.answer = answer_so_far(*turn, shown);
  }
  return view;
}

void Chats::observe(std::string session, std::function<void(Result<Place>)> done) {
  with(std::move(session), [this, done = std::move(done)](Result<std::shared_ptr<ChatSession>> found) {
    if (!found) return done(fail(found.error()));
    const ChatSession& shown = **found;
    Place place;
    place.task = shown.task();
    place.after = shown.conversation().last_sequence();
    place.deltas = parts_.log.journal.delta_place(place.task);
    if (shown.turn() != nullptr) place.answer = answer_so_far(*shown.turn(), shown);
    if (std::uint64_t first = shown.young_turn(); first > 0) {
      for (const SessionLog::Recent& event : shown.log().recent()) {
        if (event.sequence >= first) place.missed.push_back(event);
      }
      if (shown.turn() != nullptr) place.said = shown.turn()->shown();
    }
    done(std::move(place));
  });
}

void Chats::command(std::string task, Command command, std::function<void(Result<std::size_t>)> done) {
  with(std::move(task),
       [command = std::move(command), done = std::move(done)](Result<std::shared_ptr<ChatSession>> found) {
         if (!found) return done(fail(found.error()));
         if (auto taken = (*found)->command(command); !taken) return done(fail(taken.error()));
         done((*found)->waiting() + ((*found)->turn() != nullptr ? 1 : 0));
       });
}

void Chats::health(std::function<void(bool)> done) {
  parts_.log.loop.post([this, done = std::move(done)] { done(parts_.model.answers()); });
}

void Chats::refused(std::string session, const Error& error) {
  with(std::move(session), [error](Result<std::shared_ptr<ChatSession>> found) {
    if (found) (*found)->note_refusal(error);
  });
}

void Chats::clear(std::string session, std::function<void(Result<void>)> done) {
  with(std::move(session), [done = std::move(done)](Result<std::shared_ptr<ChatSession>> found) {
    if (!found) return done(fail(found.error()));
    (*found)->clear(done);
  });
}

void Chats::cancel(std::string session, std::function<void(Result<bool>)> done) {
  with(std::move(session), [done = std::move(done)](Result<std::shared_ptr<ChatSession>> found) {
    if (!found) return done(fail(found.error()));
    done((*found)->cancel("The turn was cancelled."));
  });
}

// What a session begins with today.
SessionFacts Chats::facts_of(const std::string& session, const std::vector<Tool>& tools) const {
  SessionFacts facts;
  ModelFacts model = parts_.model.facts();
  facts.model = model.model;
  facts.backend = parts_.model.name();
  facts.system = config_.system;
  facts.context_tokens = model.context_tokens;
  facts.session = session;
  for (const Tool& tool : tools) facts.tools.push_back(tool.definition.name);
  return facts;
}

void Chats::fork(std::string session, std::uint64_t through, std::string id, Found done) {
  with(std::move(session),
       [this, through, id = std::move(id), done = std::move(done)](Result<std::shared_ptr<ChatSession>> found) mutable {
         if (!found) return done(fail(found.error()));
         if (id.empty()) id = make_task_id(parts_.log.clock.wall_ms(), parts_.random);
         if (!is_task_id(id)) {
           return done(fail(ErrorCode::invalid_argument, "bad_session_name",
                            "A session's name has letters, digits, '.', '_' and '-', at most 128 of them."));
         }
         const std::string& from = (*found)->task();
         std::vector<ChatEvent> events =
             forked_events((*found)->conversation(), through, facts_of(id, (*found)->tools()), from);
         TaskSpec spec;
         spec.id = id;
         spec.title = "Chat, forked from " + from;
         spec.agent = kChatAgent;
         spec.mode = name(AgentMode::interactive);
         spec.allowed_tools = (*found)->allowed_tools();
         FirstWrite first;
         first.spec = std::move(spec);
         Conversation talk;
         talk.apply(1, events.front().type, events.front().json);
         first.basis = talk.basis();
         first.events.task = id;
         first.events.received_ms = parts_.log.clock.wall_ms();
         auto drafts = SessionLog(parts_.log, id).drafts(events);
         if (!drafts) return done(fail(drafts.error()));
         first.events.drafts = std::move(*drafts);
         parts_.log.journal.write([first = std::move(first)](WriteTxn& txn) { return write_first(txn, first); },
                                  [this, done = std::move(done)](Result<std::string> made) {
                                    parts_.log.loop.post([done, made = std::move(made)] { done(made); });
                                  });
       });
}

}  // namespace shepherd
