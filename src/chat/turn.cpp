#include "chat/turn.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "chat/limits.h"

namespace shepherd {

std::vector<Tool> offered_tools(const TurnParts& parts) {
  if (parts.tools == nullptr) return {};
  std::vector<Tool> tools = parts.tools->tools();
  if (parts.offered.empty()) return tools;
  std::erase_if(tools, [&](const Tool& tool) {
    return std::ranges::find(parts.offered, tool.definition.name) == parts.offered.end();
  });
  return tools;
}

ChatTurn::ChatTurn(TurnParts parts, std::shared_ptr<SessionLog> log, Prompt prompt,
                   std::function<void(std::uint64_t)> begun, Done done)
    : parts_(std::move(parts)),
      log_(std::move(log)),
      prompt_(std::move(prompt)),
      begun_(std::move(begun)),
      done_(std::move(done)),
      alive_(std::make_shared<ChatTurn*>(this)),
      began_ms_(log_->parts().clock.steady_ms()) {
  std::string stored = log_->redacted(prompt_.text);
  // A prompt that came as a command has waited in the log, which has it redacted.
  told_prompt_ = prompt_.command_id.empty() ? std::move(prompt_.text) : stored;
  prompt_.text = std::move(stored);
  if (const Redactor* redactor = log_->parts().redactor) {
    live_text_.emplace(*redactor);
    live_reasoning_.emplace(*redactor);
  }
}

ChatTurn::~ChatTurn() {
  *alive_ = nullptr;
}

void ChatTurn::begin() {
  plan();
}

// --- the context ---

ModelRequest ChatTurn::request() const {
  ModelRequest request;
  const Conversation& talk = log_->conversation();
  const std::string& system = talk.started() ? talk.system() : parts_.config.system;
  if (!system.empty()) request.messages.push_back({Role::system, system, {}, {}, {}, {}, false, {}, {}});
  for (const ChatMessage& each : talk.messages()) {
    bool gone = std::find(evicted_.messages.begin(), evicted_.messages.end(), each.sequence) != evicted_.messages.end();
    if (gone) continue;
    request.messages.push_back(log_->told(each));
    request.messages.back().images = each.message.images;
  }
  if (!prompt_committed_) {
    ModelMessage prompt;
    prompt.content = told_prompt_;
    request.messages.push_back(std::move(prompt));
  }
  for (Tool& tool : offered_tools(parts_)) request.tools.push_back(std::move(tool.definition));
  return request;
}

// In the conversation before this prompt.
std::int64_t ChatTurn::tokens_before() const {
  const Conversation& talk = log_->conversation();
  if (talk.started()) return talk.total_tokens();
  return parts_.config.system.empty() ? 0 : estimated_tokens(parts_.config.system);
}

// At least as many tokens as the next prompt has.
std::int64_t ChatTurn::known_prompt_tokens() const {
  const Conversation& talk = log_->conversation();
  std::int64_t tokens = 0;
  if (talk.exact() && talk.total_tokens() > 0) {
    tokens = talk.total_tokens();
  } else {
    ModelRequest whole = request();
    for (const ModelMessage& message : whole.messages) tokens += most_tokens(message);
    for (const ToolDefinition& tool : whole.tools) {
      tokens += static_cast<std::int64_t>(tool.name.size() + tool.description.size() + tool.parameters.size()) +
                4 * kMessageOverheadTokens;
    }
    return tokens;
  }
  // What came after the last exact count.
  for (auto each = talk.messages().rbegin(); each != talk.messages().rend() && !each->exact; ++each) {
    tokens += most_tokens(log_->told(*each)) - each->tokens;
  }
  if (!prompt_committed_) tokens += static_cast<std::int64_t>(told_prompt_.size()) + kMessageOverheadTokens;
  return tokens;
}

void ChatTurn::plan() {
  if (over_) return;
  if (++steps_ > parts_.config.max_turn_steps) {
    return fail_turn({ErrorCode::unavailable,
                      "too_many_steps",
                      "The model used tools in " + std::to_string(parts_.config.max_turn_steps) +
                          " calls without an answer. Ask again, or raise chat.max_turn_steps.",
                      {}},
                     "too_many_steps");
  }
  said_.clear();
  shown_.clear();
  shown_reasoning_.clear();
  thought_.clear();
  evictions_ = 0;
  ModelFacts facts = parts_.model.facts();
  std::int64_t reserve = answer_reserve(facts.context_tokens, prompt_.max_tokens, facts.max_output_tokens);
  std::int64_t most = known_prompt_tokens();
  bool surely_fits = facts.context_tokens <= 0 || most + reserve <= facts.context_tokens;
  // How much is left for an answer that may use all of it is known only by counting.
  bool all_that_is_left = prompt_.max_tokens < 0 || prompt_.max_tokens > facts.context_tokens - most;
  if (surely_fits && (!all_that_is_left || facts.context_tokens <= 0)) {
    call_model(most);
    if (prompt_written_) return;
    if (!facts.counts_exactly) return commit_prompt(estimated_tokens(prompt_.text), false);
    count_ = parts_.model.count(request(), [this](Result<std::int64_t> tokens) {
      auto counting = std::move(count_);
      if (over_) return;
      std::int64_t before = tokens_before();
      if (tokens) return commit_prompt(std::max<std::int64_t>(*tokens - before, 0), true);
      commit_prompt(estimated_tokens(prompt_.text), false);
    });
    return;
  }
  if (!facts.counts_exactly) {
    std::int64_t tokens = log_->conversation().exact() ? log_->conversation().total_tokens() - evicted_.tokens : 0;
    if (tokens <= 0) {
      tokens = 0;
      for (const ModelMessage& message : request().messages) tokens += estimated_tokens(message.content);
    } else if (!prompt_committed_) {
      tokens += estimated_tokens(prompt_.text);
    }
    return make_room(tokens, false);
  }
  count_ = parts_.model.count(request(), [this](Result<std::int64_t> tokens) { counted(std::move(tokens)); });
}

void ChatTurn::counted(Result<std::int64_t> tokens) {
  auto counting = std::move(count_);
  if (over_) return;
  if (tokens) return make_room(*tokens, true);
  if (tokens.error().reason == "context_full") return make_room(parts_.model.facts().context_tokens * 2, false);
  std::int64_t estimate = 0;
  for (const ModelMessage& message : request().messages) estimate += estimated_tokens(message.content);
  make_room(estimate, false);
}

void ChatTurn::make_room(std::int64_t prompt_tokens, bool exact) {
  ModelFacts facts = parts_.model.facts();
  std::int64_t reserve = answer_reserve(facts.context_tokens, prompt_.max_tokens, facts.max_output_tokens);
  std::int64_t needed = prompt_tokens + reserve - facts.context_tokens;
  if (needed <= 0) {
    std::int64_t before = tokens_before() - evicted_.tokens;
    call_model(prompt_tokens);
    if (!prompt_written_) {
      std::int64_t own = exact ? prompt_tokens - before : estimated_tokens(prompt_.text);
      return commit_prompt(std::max<std::int64_t>(own, 0), exact);
    }
    if (overflows_ == 0) write_eviction();
    return;
  }
  const std::vector<ChatMessage>& all = log_->conversation().messages();
  Eviction more = plan_eviction(all, turn_begin(), needed + evicted_.tokens);
  if (more.messages.size() <= evicted_.messages.size() || ++evictions_ > kMaxEvictionRounds) {
    return refuse_prompt({ErrorCode::invalid_argument,
                          "context_full",
                          "The prompt does not fit into the model's context: it needs " +
                              std::to_string(prompt_tokens) + " tokens and " + std::to_string(reserve) +
                              " for the answer, and there are " + std::to_string(facts.context_tokens) +
                              ". Make it shorter, or ask for fewer tokens.",
                          {}});
  }
  std::int64_t freed = more.tokens - evicted_.tokens;
  evicted_ = std::move(more);
  if (!exact) return make_room(prompt_tokens - freed, false);
  count_ = parts_.model.count(request(), [this](Result<std::int64_t> tokens) { counted(std::move(tokens)); });
}

void ChatTurn::commit_prompt(std::int64_t tokens, bool exact) {
  prompt_written_ = true;
  std::vector<ChatEvent> events;
  const Conversation& talk = log_->conversation();
  if (!talk.started()) {
    SessionFacts facts;
    ModelFacts model = parts_.model.facts();
    facts.model = model.model;
    facts.backend = parts_.model.name();
    facts.system = parts_.config.system;
    facts.context_tokens = model.context_tokens;
    facts.system_tokens = tokens_before();
    facts.session = log_->task();
    for (const Tool& tool : offered_tools(parts_)) facts.tools.push_back(tool.definition.name);
    events.push_back(session_start_event(facts));
  }
  events.push_back(
      state_event(State::running, "answers a prompt",
                  R"("capabilities":{"commands":["steer","queue","interrupt","set_mode","approve","deny","stop"],)"
                  R"("acknowledges":["steer","queue","interrupt","set_mode","approve","deny","stop"],)"
                  R"("approvals":true,"deltas":true,"cost":true,"resumesSessions":true})"));
  ModelMessage prompt;
  prompt.content = told_prompt_;
  MessageFacts facts;
  facts.tokens = tokens;
  facts.exact = exact;
  facts.by = prompt_.by;
  facts.total_tokens = tokens_before() + tokens;
  std::size_t place = events.size();
  events.push_back(log_->message(prompt, facts));
  if (!evicted_.messages.empty()) {
    std::int64_t total = std::max<std::int64_t>(facts.total_tokens - evicted_.tokens, 0);
    events.push_back(
        eviction_event(evicted_.messages, evicted_.tokens, total, EvictionReason::context, evicted_.inside_turn));
  }
  if (!prompt_.command_id.empty()) {
    events.push_back(settled_event(prompt_.command_id, CommandState::delivered, ""));
    events.push_back(settled_event(prompt_.command_id, CommandState::acknowledged, ""));
  }
  log_->append(std::move(events), [alive = alive_, place](Result<std::uint64_t> first) {
    if (*alive == nullptr) return;
    if (first) *first += place;
    (*alive)->committed(std::move(first));
  });
}

void ChatTurn::committed(Result<std::uint64_t> first) {
  if (!first) {
    over_ = true;
    call_.reset();
    return finish({fail(first.error()), 0});
  }
  prompt_committed_ = true;
  evicted_ = {};
  first_sequence_ = *first;
  if (begun_) begun_(*first);
  if (over_) return;
  flush_live();
  if (ended_) take_answer();
}

// --- the model ---

void ChatTurn::call_model(std::int64_t prompt_tokens) {
  ModelFacts facts = parts_.model.facts();
  ModelRequest asked = request();
  asked.max_tokens = answer_limit(facts.context_tokens, prompt_tokens, prompt_.max_tokens, facts.max_output_tokens);
  ended_.reset();
  call_ = parts_.model.start(std::move(asked), *this);
}

std::string ChatTurn::block() const {
  return std::to_string(first_sequence_) + "." + std::to_string(steps_);
}

void ChatTurn::show(std::string_view kind, std::string_view text) {
  if (text.empty()) return;
  if (prompt_committed_) return log_->live(block(), kind, text);
  if (waiting_live_bytes_ + text.size() > kMaxLiveBytes) return;  // the finished message has it
  waiting_live_bytes_ += text.size();
  if (!waiting_live_.empty() && waiting_live_.back().first == kind) {
    waiting_live_.back().second += text;
    return;
  }
  waiting_live_.emplace_back(kind, text);
}

void ChatTurn::flush_live() {
  auto waiting = std::exchange(waiting_live_, {});
  waiting_live_bytes_ = 0;
  for (const auto& [kind, text] : waiting) show(kind, text);
}

void ChatTurn::show_text(std::string_view text) {
  shown_ += text;
  if (!parts_.config.code_blocks) return show("text", text);
  fences_.add(text, [this](bool code, std::string_view part) { show(code ? "code" : "text", part); });
}

void ChatTurn::show_reasoning(std::string_view text) {
  if (!parts_.config.show_reasoning) return;
  shown_reasoning_ += text;
  show("reasoning", text);
}

void ChatTurn::on_text(std::string_view piece) {
  write_eviction();
  said_ += piece;
  show_text(live_text_ ? live_text_->add(piece) : piece);
}

void ChatTurn::on_reasoning(std::string_view piece) {
  write_eviction();
  thought_ += piece;
  show_reasoning(live_reasoning_ ? live_reasoning_->add(piece) : piece);
}

void ChatTurn::on_retry(std::string_view why) {
  if (prompt_committed_) log_->append({remark_event(why)});
}

void ChatTurn::on_end(Result<ModelAnswer> answer) {
  auto call = std::move(call_);
  if (over_) return;
  if (live_reasoning_) show_reasoning(live_reasoning_->finish());
  if (live_text_) show_text(live_text_->finish());
  fences_.finish([this](bool code, std::string_view part) { show(code ? "code" : "text", part); });
  ended_ = std::move(answer);
  if (prompt_committed_) take_answer();
}

// Where this turn's prompt is in the conversation; behind all messages if it is not committed. Words of operators came
// later.
std::size_t ChatTurn::turn_begin() const {
  const std::vector<ChatMessage>& all = log_->conversation().messages();
  std::size_t at = 0;
  while (at < all.size() && (!prompt_committed_ || all[at].sequence < first_sequence_)) ++at;
  return at;
}

void ChatTurn::take_answer() {
  Result<ModelAnswer> answer = std::move(*ended_);
  ended_.reset();
  if (answer) {
    write_eviction();
    return answered(std::move(*answer));
  }
  const Error& error = answer.error();
  // It may be an image that the backend does not take, and then it would refuse every later prompt, too.
  if (error.reason == "model_refused") log_->forget_images();
  lost_call_ =
      !said_.empty() || !thought_.empty() || error.reason == "model_broke_off" || error.reason == "answer_too_long";
  if (error.reason != "context_full" || !said_.empty()) return fail_turn(error, error.reason);
  if (overflows_ < kMaxOverflowRetries) {
    // Written only when the model has answered: a prompt that cannot fit must not cost the conversation anything.
    std::int64_t needed = std::max<std::int64_t>(parts_.model.facts().context_tokens / 4, 1) + evicted_.tokens;
    Eviction more = plan_eviction(log_->conversation().messages(), turn_begin(), needed);
    if (more.messages.size() > evicted_.messages.size()) {
      ++overflows_;
      evicted_ = std::move(more);
      return plan();
    }
  }
  refuse_prompt(error);
}

// A prompt that cannot fit is taken back, or the next one could not fit either.
void ChatTurn::refuse_prompt(const Error& error) {
  evicted_ = {};
  const Conversation& talk = log_->conversation();
  std::size_t at = turn_begin();
  if (prompt_committed_ && steps_ == 1 + overflows_ && at + 1 == talk.messages().size()) {
    const ChatMessage& prompt = talk.messages()[at];
    std::int64_t total = std::max<std::int64_t>(talk.total_tokens() - prompt.tokens, 0);
    log_->append({eviction_event({prompt.sequence}, prompt.tokens, total, EvictionReason::context, true)});
  }
  fail_turn(error, error.reason);
}

// What had to go for the call that runs. Not while it still waits to be written with the prompt.
void ChatTurn::write_eviction() {
  if (evicted_.messages.empty() || !prompt_committed_) return;
  std::int64_t total = std::max<std::int64_t>(log_->conversation().total_tokens() - evicted_.tokens, 0);
  log_->append(
      {eviction_event(evicted_.messages, evicted_.tokens, total, EvictionReason::context, evicted_.inside_turn)});
  evicted_ = {};
}

void ChatTurn::answered(ModelAnswer answer) {
  ModelMessage message;
  message.role = Role::assistant;
  message.content = answer.text;
  message.reasoning = answer.reasoning;
  message.reasoning_state = answer.reasoning_state;
  message.tool_calls = answer.tool_calls;
  MessageFacts facts;
  facts.exact = answer.usage.known;
  facts.tokens = answer.usage.known ? answer.usage.output : estimated_tokens(message.content);
  if (answer.usage.known) facts.total_tokens = answer.usage.input + answer.usage.output;
  facts.usage = answer.usage;
  facts.model = answer.model;
  facts.finish_reason = name(answer.finish);
  // A call that was cut off must not run.
  bool cut_off = answer.finish == Finish::length && !answer.tool_calls.empty();
  facts.final = answer.tool_calls.empty() && words_.empty();

  std::vector<ChatEvent> events;
  events.push_back(usage_after(answer, facts.final));
  if (facts.final) facts.turn_cost = MessageFacts::TurnCost{turn_cost_};
  events.push_back(log_->message(message, facts));
  if (facts.final) events.push_back(state_event(State::paused, "waits for the next prompt"));
  calls_.assign(message.tool_calls.begin(), message.tool_calls.end());
  said_.clear();  // the message has it
  shown_.clear();
  shown_reasoning_.clear();
  std::string response = log_->redacted(message.content);
  log_->append(std::move(events), [alive = alive_, final = facts.final, cut_off,
                                   response = std::move(response)](Result<std::uint64_t> first) mutable {
    if (*alive == nullptr || (*alive)->over_) return;
    ChatTurn& turn = **alive;
    if (!first) return turn.fail_turn(first.error(), first.error().reason);
    if (final) return turn.finish({std::move(response), *first + 1});
    if (turn.calls_.empty()) return turn.take_words();
    if (cut_off) return turn.refuse_tool("Error: the call was cut off by the token limit and did not run.");
    turn.next_tool();
  });
}

// The session's totals with this call.
ChatEvent ChatTurn::usage_after(const ModelAnswer& answer, bool final) {
  const ModelUsage& usage = answer.usage;
  Usage totals = log_->conversation().usage();
  std::optional<double> cost = cost_of(parts_.price(answer.backend), usage);
  totals.cost_usd += cost.value_or(0);
  turn_cost_ = turn_cost_ && cost ? std::optional(*turn_cost_ + *cost) : std::nullopt;
  totals.input_tokens +=
      static_cast<std::uint64_t>(std::max<std::int64_t>(usage.input - usage.cache_read - usage.cache_write, 0));
  totals.output_tokens += static_cast<std::uint64_t>(usage.output);
  totals.cache_read_tokens += static_cast<std::uint64_t>(usage.cache_read);
  totals.cache_write_tokens += static_cast<std::uint64_t>(usage.cache_write);
  totals.api_calls += 1;
  totals.tool_uses += answer.tool_calls.size();
  totals.turns += final ? 1 : 0;
  return usage_event(totals, log_->conversation().priced() && cost.has_value(), answer.model, log_->task());
}

// A call that ends before its usage comes has its cost all the same. It is not known, so the session is unpriced
// from then on.
std::optional<ChatEvent> ChatTurn::usage_of_lost_call() {
  if (ended_ && *ended_) return usage_after(**ended_, false);  // it answered before its prompt was committed
  lost_call_ = lost_call_ || call_ != nullptr;
  if (!lost_call_) return std::nullopt;
  ModelAnswer nothing;
  nothing.backend = parts_.model.name();
  nothing.model = parts_.model.facts().model;
  return usage_after(nothing, false);
}

// --- the end ---

// What is open in the log gets its end: the partial answer, calls that ran or waited, words that came too late.
std::vector<ChatEvent> ChatTurn::closing_events(std::string_view why) {
  std::vector<ChatEvent> events;
  if (!said_.empty() && calls_.empty() && prompt_committed_) {
    ModelMessage partial;
    partial.role = Role::assistant;
    partial.content = said_;
    MessageFacts facts;
    facts.tokens = estimated_tokens(partial.content);
    facts.finish_reason = "cancelled";
    events.push_back(log_->message(partial, facts));
  }
  if (!open_approval_.empty()) {
    events.push_back(approval_event(calls_.front(), "expired", std::string(why), std::string(why), ""));
  }
  for (std::size_t at = 0; at < calls_.size(); ++at) {
    const ToolRequest& call = calls_[at];
    bool ran = at == 0 && tool_logged_ && open_approval_.empty();
    std::string content =
        std::string("Error: ") + (ran ? "the call was ended before it answered: " : "not run: ") + std::string(why);
    if (at == 0 && tool_logged_) {
      events.push_back(tool_result_event(call, {false, content, log_->parts().clock.steady_ms() - tool_began_ms_}));
    }
    ModelMessage message;
    message.role = Role::tool;
    message.content = content;
    message.tool_call_id = call.id;
    message.tool_name = call.name;
    message.failed = true;
    MessageFacts facts;
    facts.tokens = estimated_tokens(content);
    events.push_back(message_event(message, facts));
  }
  for (const Prompt& word : words_) {
    events.push_back(settled_event(word.command_id, CommandState::refused, "the turn has ended"));
  }
  return events;
}

void ChatTurn::cancel(std::string_view reason) {
  fail_turn({ErrorCode::gone, "cancelled", std::string(reason), {}}, "cancelled");
}

void ChatTurn::end(Error why) {
  std::string code = why.reason;
  fail_turn(std::move(why), code);
}

void ChatTurn::fail_turn(Error error, std::string_view code) {
  if (over_) return;
  over_ = true;
  std::optional<ChatEvent> usage = usage_of_lost_call();
  call_.reset();
  count_.reset();
  run_.reset();
  std::vector<ChatEvent> events = closing_events(error.message);
  if (usage) events.insert(events.begin(), std::move(*usage));
  calls_.clear();
  words_.clear();
  open_approval({});
  if (!prompt_written_ && !prompt_.command_id.empty()) {
    events.push_back(settled_event(prompt_.command_id, CommandState::refused, error.message));
  }
  std::size_t last = events.size();
  events.push_back(error_event(code, log_->redacted(error.message), true));
  events.push_back(state_event(State::paused, "waits for the next prompt"));
  log_->append(std::move(events),
               [alive = alive_, last, error = std::move(error)](Result<std::uint64_t> first) mutable {
                 if (*alive == nullptr) return;
                 (*alive)->finish({fail(std::move(error)), first ? *first + last : 0});
               });
}

void ChatTurn::finish(TurnEnd end) {
  over_ = true;
  if (done_) std::exchange(done_, {})(std::move(end));
}

}  // namespace shepherd
