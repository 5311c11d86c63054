// shepherd top: shows all tasks on a full screen.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "cli/limits.h"
#include "cli/top_layout.h"
#include "cli/top_model.h"
#include "cli/top_screen.h"
#include "cli/top_updates.h"
#include "cli/verbs.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

struct TopOptions {
  ServerOptions server;
  std::string filter;
  bool active = false;
};

// Handles the keys. Threads: caller.
class Top {
 public:
  Top(Context& context, const TopOptions& options, TopScreen screen)
      : screen_(std::move(screen)), feed_(context, options.server) {
    model_.set_filter(options.filter);
    if (options.active) model_.toggle_ended();
  }

  Result<ExitCode> run() {
    while (true) {
      for (TopNews& news : feed_.take()) {
        if (auto* ended = std::get_if<TopEnded>(&news)) return fail(std::move(ended->error));
        hear(std::move(news));
      }
      follow_log();
      follow_inbox();
      draw();
      std::array<pollfd, 2> polled{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{feed_.descriptor(), POLLIN, 0}};
      poll(polled.data(), polled.size(), static_cast<int>(kTopRefresh.count()));
      if ((polled[0].revents & (POLLHUP | POLLERR)) != 0) return ExitCode::ok;  // the terminal was closed
      for (TopKey key = screen_.key(); key != TopKey::none; key = screen_.key()) {
        if (!press(key)) return ExitCode::ok;
      }
    }
  }

 private:
  enum class Mode { list, log, help };

  void hear(TopNews news) {
    if (auto* all = std::get_if<TopRows>(&news)) {
      model_.replace(std::move(all->rows));
      listed_ = true;
      inbox_stale_ = true;
    } else if (auto* row = std::get_if<TopRow>(&news)) {
      settle(*row);
      model_.put(std::move(*row));
      inbox_stale_ = true;
    } else if (auto* deleted = std::get_if<TopDeleted>(&news)) {
      model_.remove(deleted->task);
      inbox_stale_ = true;
    } else if (auto* needs = std::get_if<TopNeeds>(&news)) {
      model_.set_needs(needs->needs, needs->total);
      asking_inbox_ = false;
    } else if (auto* lines = std::get_if<TopLines>(&news)) {
      add_lines(*lines);
    } else if (auto* asked = std::get_if<TopAsked>(&news)) {
      if (question_ && question_->command.approval_id == asked->approval) {
        question_->input = std::move(asked->input);
        question_->text =
            fmt::format("{} this? y/n", question_->command.kind == CommandKind::approve ? "Approve" : "Deny");
      }
    } else if (auto* notice = std::get_if<TopNotice>(&news)) {
      notice_ = terminal_text(notice->text, Lines::join);
      asking_log_ = asking_inbox_ = false;
      if (question_ && question_->decides() && !question_->input) question_.reset();  // the input could not be read
    } else if (auto* connection = std::get_if<TopConnection>(&news)) {
      connection_ = connection->trouble;
    } else if (auto* sent = std::get_if<TopSent>(&news)) {
      pending_[sent->command] = sent->kind;
      notice_ = sent->kind + ": accepted";
      if (const TopRow* known = model_.find(sent->task)) settle(*known);
    }
  }

  // Reports the result of commands given here.
  void settle(const TopRow& row) {
    for (const TopRow::Command& command : row.commands) {
      auto known = pending_.find(command.id);
      if (known == pending_.end() || command.state == "accepted") continue;
      notice_ =
          fmt::format("{}: {}{}", known->second, command.state, command.reason.empty() ? "" : ", " + command.reason);
      if (command.state != "delivered") pending_.erase(known);
    }
  }

  void add_lines(TopLines& lines) {
    asking_log_ = false;
    if (lines.task != log_.task) return;
    for (EventLine& line : lines.lines) {
      if (line.sequence <= log_.last_sequence) continue;
      if (log_.started_ms == 0) log_.started_ms = line.timestamp_ms;
      log_.last_sequence = line.sequence;
      log_.lines.push_back(std::move(line));
      if (log_.back > 0) ++log_.back;  // keeps the visible lines in place
    }
    log_.last_sequence = std::max(log_.last_sequence, lines.last_sequence);
    while (log_.lines.size() > kTopLogLines) log_.lines.pop_front();
    log_.back = std::min(log_.back, log_.lines.size());
  }

  void follow_log() {
    if (mode_ != Mode::log || asking_log_) return;
    const TopRow* row = model_.find(log_.task);
    if (row == nullptr || row->last_sequence <= log_.last_sequence) return;
    asking_log_ = true;
    feed_.ask_log(log_.task, log_.last_sequence);
  }

  // Runs after every change, at most once a second, and also periodically, because a silent task becomes stalled.
  void follow_inbox() {
    if (!connection_.empty()) return;  // the list is requested again after a reconnect
    std::int64_t since_ms = clock_.steady_ms() - inbox_ms_;
    if (asking_inbox_ || since_ms < kTopRefresh.count() || (!inbox_stale_ && since_ms < kTopInbox.count())) return;
    asking_inbox_ = true;
    inbox_stale_ = false;
    inbox_ms_ = clock_.steady_ms();
    feed_.ask_needs();
  }

  void draw() {
    TopFrame frame{screen_.size(), clock_.wall_ms(), question_.value_or(Question{}).text, connection_, typed_, typing_};
    if (frame.notice.empty()) frame.notice = notice_;
    if (!listed_ && connection_.empty()) frame.connection = "asking the server";
    if (question_ && question_->input) {
      return screen_.draw(asked_screen(question_->title, *question_->input, question_->first, frame));
    }
    switch (shown_mode()) {
      case Mode::list:
        return screen_.draw(list_screen(model_, frame));
      case Mode::log:
        return screen_.draw(log_screen(log_, model_.find(log_.task), frame));
      case Mode::help:
        frame.notice.clear();
        return screen_.draw(help_screen(frame));
    }
  }
  Mode shown_mode() const { return helping_ ? Mode::help : mode_; }

  // False: quit.
  bool press(TopKey key) {
    if (key == TopKey::resized || key == TopKey::other) return true;
    if (key == TopKey::quit) return false;
    if (helping_) {
      helping_ = false;
      return true;
    }
    if (question_) {
      answer(key);
      return true;
    }
    if (typing_) {
      type(key);
      return true;
    }
    notice_.clear();
    if (key == key_of('q')) return false;
    if (key == key_of('?')) {
      helping_ = true;
    } else if (!steer(key)) {
      mode_ == Mode::log ? press_in_log(key) : press_in_list(key);
    }
    return true;
  }

  void press_in_list(TopKey key) {
    auto page = static_cast<std::int64_t>(screen_.size().lines) - 4;
    auto all = static_cast<std::int64_t>(model_.shown().size());
    if (key == TopKey::up || key == key_of('k')) model_.move(-1);
    if (key == TopKey::down || key == key_of('j')) model_.move(1);
    if (key == TopKey::page_up) model_.move(-page);
    if (key == TopKey::page_down) model_.move(page);
    if (key == TopKey::home || key == key_of('g')) model_.move(-all);
    if (key == TopKey::end || key == key_of('G')) model_.move(all);
    if (key == key_of('s')) model_.next_sort();
    if (key == key_of('t')) model_.toggle_ended();
    if (key == TopKey::escape) model_.set_filter("");
    if (key == key_of('/')) {
      typing_ = true;
      typed_ = model_.filter();
    }
    if (key == TopKey::enter) open_log();
  }

  void press_in_log(TopKey key) {
    std::size_t page = screen_.size().lines > 4 ? screen_.size().lines - 4 : 1;
    std::size_t most = log_.lines.size() > page ? log_.lines.size() - page : 0;
    auto back = [&](std::size_t by) { log_.back = std::min(most, log_.back + by); };
    auto forth = [&](std::size_t by) { log_.back -= std::min(log_.back, by); };
    if (key == TopKey::up || key == key_of('k')) back(1);
    if (key == TopKey::down || key == key_of('j')) forth(1);
    if (key == TopKey::page_up) back(page);
    if (key == TopKey::page_down) forth(page);
    if (key == TopKey::home || key == key_of('g')) back(most);
    if (key == TopKey::end || key == key_of('G')) log_.back = 0;
    if (key == TopKey::escape || key == TopKey::enter || key == TopKey::backspace) mode_ = Mode::list;
  }

  void open_log() {
    const TopRow* row = model_.chosen();
    if (row == nullptr) return;
    mode_ = Mode::log;
    log_ = {row->id, row->title.empty() ? row->id : row->title, {}, 0, 0, 0};
    asking_log_ = true;
    feed_.ask_log(row->id, 0);
  }

  // Handles a key while the filter is typed; the filter applies immediately.
  void type(TopKey key) {
    if (key == TopKey::enter) {
      typing_ = false;
    } else if (key == TopKey::escape) {
      typing_ = false;
      model_.set_filter("");
    } else if (key == TopKey::backspace) {
      while (!typed_.empty() && (static_cast<unsigned char>(typed_.back()) & 0xC0) == 0x80) typed_.pop_back();
      if (!typed_.empty()) typed_.pop_back();
      model_.set_filter(typed_);
    } else if (static_cast<int>(key) >= ' ' && static_cast<int>(key) < 256) {
      typed_.push_back(static_cast<char>(key));
      model_.set_filter(typed_);
    }
  }

  const TopRow* meant() const { return mode_ == Mode::log ? model_.find(log_.task) : model_.chosen(); }

  // True: the key was a command to an agent.
  bool steer(TopKey key) {
    bool stops = key == key_of('x') || key == TopKey::stop;
    bool decides = key == key_of('a') || key == key_of('d');
    if (!stops && !decides && key != key_of('i')) return false;
    const TopRow* row = meant();
    if (row == nullptr) return true;
    if (row->ended()) {
      notice_ = "It has ended.";
      return true;
    }
    std::string title = row->title.empty() ? row->id : row->title;
    Command command;
    if (decides) {
      if (row->approvals.empty()) {
        notice_ = "It asks nothing now.";
        return true;
      }
      command.kind = key == key_of('a') ? CommandKind::approve : CommandKind::deny;
      const OpenApproval& approval = row->approvals.front();
      if (approval.kind == "question") {
        notice_ = fmt::format("It asks a question: shepherd answer {} \"…\"", row->id);
        return true;
      }
      command.approval_id = approval.id;
      // Reads the full input first, because a person must see it before approving.
      question_ = Question{row->id, command, "reading what it asks …", title};
      feed_.ask_input(row->id, approval);
    } else if (stops) {
      command.kind = CommandKind::stop;
      question_ = Question{row->id, command, fmt::format("Stop \"{}\"? y/n", title), title};
    } else {
      command.kind = CommandKind::interrupt;
      feed_.send(row->id, command);
    }
    return true;
  }

  void answer(TopKey key) {
    std::size_t page = screen_.size().lines > 4 ? screen_.size().lines - 4 : 1;
    if (question_->input) {
      auto back = [&](std::size_t by) { question_->first -= std::min(question_->first, by); };
      if (key == TopKey::up || key == key_of('k')) return back(1);
      if (key == TopKey::page_up) return back(page);
      if (key == TopKey::down || key == key_of('j')) return void(question_->first += 1);
      if (key == TopKey::page_down || key == key_of(' ')) return void(question_->first += page);
    } else if (question_->decides() && key != TopKey::escape && key != key_of('n')) {
      return;  // the person cannot approve what is not on the screen yet
    }
    bool yes = key == key_of('y') || key == key_of('Y');
    if (yes) feed_.send(question_->task, question_->command);
    notice_ = yes ? "" : "Nothing done.";
    question_.reset();
  }

  struct Question {
    std::string task;
    Command command;
    std::string text, title;
    std::optional<AskedInput> input = std::nullopt;  // of an approval, once it was read
    std::size_t first = 0;                           // its first line on the screen

    bool decides() const { return !command.approval_id.empty(); }
  };

  TopScreen screen_;
  TopModel model_;
  SystemClock clock_;
  Mode mode_ = Mode::list;
  TopLog log_;
  bool helping_ = false, typing_ = false, listed_ = false, asking_log_ = false;
  bool inbox_stale_ = true, asking_inbox_ = false;
  std::int64_t inbox_ms_ = 0;  // steady clock: time of the last request
  std::string typed_, notice_, connection_;
  std::optional<Question> question_;
  std::map<std::string, std::string> pending_;  // commands given here that have not settled: id, kind
  TopUpdates feed_;                             // last, so that its threads end first
};

Result<ExitCode> top(Context& context, const TopOptions& options) {
  // Checks this before the full screen opens, so that the person sees the error on an ordinary screen.
  Result<Destination> found = locate_server(context, options.server);
  if (!found) return fail(found.error());
  bool colored = context.environment("NO_COLOR").empty();
  Result<TopScreen> screen = TopScreen::open(colored);
  if (!screen) return fail(screen.error());
  return Top(context, options, *std::move(screen)).run();
}

}  // namespace

void add_top_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command = app.add_subcommand("top", "All tasks live on one screen, those that need you first");
  command->add_option("--filter", options->filter, "Start with this filter: words of title, id, agent or state");
  command->add_flag("--active", options->active, "Start without the tasks that have ended");
  add_server_options(*command, options->server);
  command->footer(
      "Keys: arrows or j k, Enter the task's log, a approve, d deny, i interrupt, x stop, / filter, s sort, t ended, "
      "? help, q quit.\n\nExamples:\n  shepherd top\n  shepherd top --active --filter \"claude web\"");
  command->callback([options, &context] { context.action = [options, &context] { return top(context, *options); }; });
}

}  // namespace shepherd
