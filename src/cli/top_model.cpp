#include "cli/top_model.h"

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "cli/limits.h"
#include "client/task_view.h"
#include "json/scan.h"
#include "model/task.h"
#include "model/usage_json.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

constexpr std::array<std::string_view, 6> kSorts{"needs you", "newest", "cost", "tokens", "time", "title"};

std::string clean(std::string_view text) {
  return terminal_text(text, Lines::join);
}

// For text that shows what an agent does or wants to do, because a person decides based on it.
std::string exact(std::string_view text) {
  return exact_text(text, Lines::join);
}

std::int64_t time_member(std::string_view object, std::string_view name) {
  return parse_timestamp(text_member(object, name)).value_or(0);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains_word(std::string_view text, std::string_view word) {
  return std::ranges::search(text, word, [](char a, char b) { return lower(a) == lower(b); }).begin() != text.end();
}

// Tasks in the inbox come first, ended tasks last.
int urgency(const TopRow& row) {
  if (row.needs_you()) return 0;
  if (row.state == "interrupted" || row.state == "paused") return 1;
  if (row.state == "running") return 2;
  if (row.state == "starting") return 3;
  if (row.state == "queued") return 4;
  return row.state == "completed" || row.state == "cancelled" ? 6 : 5;
}

bool comes_before(const TopRow& a, const TopRow& b, TopSort sort) {
  switch (sort) {
    case TopSort::needs:
      if (urgency(a) != urgency(b)) return urgency(a) < urgency(b);
      if (a.needs_you() && a.need_rank != b.need_rank) return a.need_rank < b.need_rank;
      break;
    case TopSort::newest:
      if (a.last_event_ms != b.last_event_ms) return a.last_event_ms > b.last_event_ms;
      break;
    case TopSort::cost:
      if (a.cost_usd != b.cost_usd) return a.cost_usd > b.cost_usd;
      break;
    case TopSort::tokens:
      if (a.tokens != b.tokens) return a.tokens > b.tokens;
      break;
    case TopSort::time: {
      // Needs no clock: the task that started first has run longest.
      std::int64_t begun_a = a.started_ms != 0 ? a.started_ms : a.created_ms;
      std::int64_t begun_b = b.started_ms != 0 ? b.started_ms : b.created_ms;
      if (a.ended() != b.ended()) return !a.ended();
      if (begun_a != begun_b) return begun_a < begun_b;
      break;
    }
    case TopSort::title:
      if (a.title != b.title) return a.title < b.title;
      break;
  }
  if (a.created_ms != b.created_ms) return a.created_ms > b.created_ms;
  return a.id < b.id;
}

}  // namespace

bool TopRow::ended() const {
  auto known = state_named(state);
  return known && is_terminal(*known);
}

std::int64_t TopRow::elapsed_ms(std::int64_t now_ms) const {
  std::int64_t begun = started_ms != 0 ? started_ms : created_ms;
  return std::max<std::int64_t>(0, (completed_ms != 0 ? completed_ms : now_ms) - begun);
}

Result<TopRow> read_top_row(std::string_view task_json) {
  Result<TaskView> task = read_task_view(task_json);
  if (!task) return fail(task.error());
  TopRow row;
  row.id = task->id;
  row.title = clean(task->label());
  row.agent = clean(task->agent);
  if (row.agent.empty()) row.agent = clean(text_member(find_member(task_json, "labels"), "agent"));
  row.model = clean(task->model);
  row.state = clean(task->state);
  row.activity = exact(text_member(task_json, "activity"));
  if (row.ended() || row.activity.empty()) row.activity = exact(task->error.empty() ? task->message : task->error);
  row.created_ms = time_member(task_json, "createdAt");
  row.started_ms = time_member(task_json, "startedAt");
  row.completed_ms = time_member(task_json, "completionTime");
  row.last_event_ms = time_member(task_json, "lastEventAt");
  row.last_sequence = task->last_sequence;
  row.tokens = total_tokens(find_member(task_json, "usage"));
  row.cost_usd = task->cost_usd;
  row.unpriced = task->unpriced;
  for (OpenApproval& approval : open_approvals(task_json)) {
    if (row.approvals.empty() && !row.ended()) row.activity = exact(approval.summary);
    row.approvals.push_back(std::move(approval));
  }
  if (auto commands = array_elements(find_member(task_json, "commands"))) {
    for (std::string_view each : *commands) {
      row.commands.push_back({text_member(each, "id"), text_member(each, "kind"), text_member(each, "state"),
                              clean(text_member(each, "reason"))});
    }
  }
  return row;
}

void TopModel::replace(std::vector<TopRow> rows) {
  rows_.clear();
  for (TopRow& row : rows) {
    apply_need(row);
    rows_.insert_or_assign(row.id, std::move(row));
  }
  stale_ = true;
}

void TopModel::apply_need(TopRow& row) const {
  auto found = needs_.find(row.id);
  row.need = found == needs_.end() ? "" : found->second.first;
  row.need_rank = found == needs_.end() ? 0 : found->second.second;
}

void TopModel::set_needs(const std::vector<Need>& needs, std::size_t total) {
  needs_.clear();
  // A task's first need is its most urgent one.
  for (std::size_t i = 0; i < needs.size(); ++i) needs_.try_emplace(needs[i].task, needs[i].kind, i);
  needs_total_ = total;
  for (auto& [id, row] : rows_) apply_need(row);
  stale_ = true;
}

void TopModel::put(TopRow row) {
  apply_need(row);
  rows_.insert_or_assign(row.id, std::move(row));
  if (rows_.size() > kTopTasks) {
    auto oldest = rows_.end();
    for (auto at = rows_.begin(); at != rows_.end(); ++at) {
      if (!at->second.ended()) continue;
      if (oldest == rows_.end() || at->second.completed_ms < oldest->second.completed_ms) oldest = at;
    }
    if (oldest != rows_.end()) rows_.erase(oldest);
  }
  stale_ = true;
}

void TopModel::remove(const std::string& task) {
  rows_.erase(task);
  stale_ = true;
}

bool TopModel::is_wanted(const TopRow& row) const {
  if (!shows_ended_ && row.ended()) return false;
  if (filter_.empty()) return true;
  std::string all = row.id + " " + row.title + " " + row.agent + " " + row.model + " " + row.state;
  if (row.needs_you()) all += " needs you";
  std::string_view rest = filter_;
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find(' '));
    if (!contains_word(all, word)) return false;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return true;
}

const std::vector<const TopRow*>& TopModel::shown() const {
  arrange();
  return shown_;
}

void TopModel::arrange() const {
  if (!stale_) return;
  stale_ = false;
  shown_.clear();
  for (const auto& [id, row] : rows_) {
    if (is_wanted(row)) shown_.push_back(&row);
  }
  std::ranges::sort(shown_, [this](const TopRow* a, const TopRow* b) { return comes_before(*a, *b, sort_); });
  // Keeps the selected task selected wherever it moves. If it is gone, selects the row in its place.
  if (shown_.empty()) return;
  auto place = std::ranges::find_if(shown_, [this](const TopRow* row) { return row->id == chosen_; });
  place_ =
      place != shown_.end() ? static_cast<std::size_t>(place - shown_.begin()) : std::min(place_, shown_.size() - 1);
  chosen_ = shown_[place_]->id;
}

std::optional<std::size_t> TopModel::chosen_place() const {
  arrange();
  if (shown_.empty()) return std::nullopt;
  return place_;
}

const TopRow* TopModel::chosen() const {
  auto place = chosen_place();
  return place ? shown_[*place] : nullptr;
}

void TopModel::choose(std::string_view id) {
  chosen_ = id;
  stale_ = true;
}

void TopModel::move(std::int64_t by) {
  auto place = chosen_place();
  if (!place) return;
  auto last = static_cast<std::int64_t>(shown_.size()) - 1;
  place_ = static_cast<std::size_t>(std::clamp<std::int64_t>(static_cast<std::int64_t>(*place) + by, 0, last));
  chosen_ = shown_[place_]->id;
}

std::size_t TopModel::scroll(std::size_t height) {
  std::size_t place = chosen_place().value_or(0);
  if (height == 0) return place;
  if (place < first_) first_ = place;
  if (place >= first_ + height) first_ = place - height + 1;
  std::size_t most = shown_.size() > height ? shown_.size() - height : 0;
  first_ = std::min(first_, most);
  return first_;
}

void TopModel::set_filter(std::string text) {
  filter_ = std::move(text);
  stale_ = true;
}

void TopModel::next_sort() {
  sort_ = static_cast<TopSort>((static_cast<std::size_t>(sort_) + 1) % kSorts.size());
  stale_ = true;
}

std::string_view TopModel::sort_name() const {
  return kSorts[static_cast<std::size_t>(sort_)];
}

void TopModel::toggle_ended() {
  shows_ended_ = !shows_ended_;
  stale_ = true;
}

const TopRow* TopModel::find(const std::string& id) const {
  auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

TopTotals TopModel::totals() const {
  TopTotals totals;
  totals.needs_you = needs_total_;
  for (const auto& [id, row] : rows_) {
    totals.cost_usd += row.cost_usd;
    totals.unpriced = totals.unpriced || row.unpriced;
    if (row.ended()) {
      ++totals.ended;
    } else if (row.waits()) {
      continue;  // counted through the inbox
    } else if (row.state == "queued") {
      ++totals.queued;
    } else {
      ++totals.running;
    }
  }
  return totals;
}

}  // namespace shepherd
