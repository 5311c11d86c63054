#include "cli/top_updates.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/ids.h"
#include "cli/limits.h"
#include "client/api_get.h"
#include "json/scan.h"

namespace shepherd {
namespace {

// Blocks signals in the new thread, because the thread with the screen handles them.
std::thread start_quietly(std::function<void()> work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

TopUpdates::TopUpdates(Context& context, const ServerOptions& server)
    : context_(context),
      server_(server),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      // Only rows are needed; a rare type keeps the events themselves out of the stream.
      live_([this] { return locate_server(context_, server_); },
            LiveOptions{.task = "", .after = {}, .tail = 0, .cursor = "", .types = "result"}, clock_, random_,
            server.tls()) {
  follower_ = start_quietly([this] { follow(); });
  errand_runner_ = start_quietly([this] { run_errands(); });
}

TopUpdates::~TopUpdates() {
  live_.stop();
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  follower_.join();
  errand_runner_.join();
  close(wake_);
}

std::vector<TopNews> TopUpdates::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] ssize_t got = read(wake_, &count, sizeof count);
  MutexLock lock(mutex_);
  return std::exchange(news_, {});
}

void TopUpdates::tell(TopNews news) {
  {
    MutexLock lock(mutex_);
    // Only the newest row of a task counts.
    const auto* row = std::get_if<TopRow>(&news);
    bool replaced = false;
    for (TopNews& waiting : news_) {
      auto* known = std::get_if<TopRow>(&waiting);
      if (row == nullptr || known == nullptr || known->id != row->id) continue;
      *known = *row;
      replaced = true;
      break;
    }
    if (!replaced) news_.push_back(std::move(news));
  }
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t put = write(wake_, &one, sizeof one);
}

void TopUpdates::follow() {
  Result<bool> ended = live_.run(*this);
  if (!ended) tell(TopEnded{ended.error()});
}

void TopUpdates::on_state(const LiveChange& change) {
  if (change.state == LiveState::disconnected) tell(TopConnection{"connection lost, trying again"});
  if (change.state != LiveState::connected) return;
  tell(TopConnection{});
  // The server sends rows that change from now on. The current rows, with changes made meanwhile, must be requested.
  ask([this](ApiClient& client) { list_all(client); });
}

void TopUpdates::on_row(std::string_view, std::string_view row) {
  if (Result<TopRow> read = read_top_row(row)) tell(*std::move(read));
}

void TopUpdates::on_deleted(std::string_view task) {
  tell(TopDeleted{std::string(task)});
}

void TopUpdates::list_all(ApiClient& client) {
  TopRows all;
  Result<TaskList> page = client.tasks({{"limit", "200"}});
  while (page) {
    for (const TaskView& task : page->tasks) {
      if (Result<TopRow> row = read_top_row(task.json)) all.rows.push_back(*std::move(row));
    }
    if (page->next.empty() || all.rows.size() >= kTopTasks) break;
    page = client.next_tasks(page->next);
  }
  if (!page) return tell(TopNotice{page.error().message});
  tell(std::move(all));
}

void TopUpdates::ask_log(std::string task, std::uint64_t after) {
  ask([this, task = std::move(task), after](ApiClient& client) {
    Parameters query =
        after == 0 ? Parameters{{"tail", std::to_string(kTopLogLines)}} : Parameters{{"after", std::to_string(after)}};
    query.emplace_back("limit", std::to_string(kTopLogLines));
    Result<LogPage> page = client.events(task, query);
    if (!page) return tell(TopNotice{page.error().message});
    TopLines lines{task, {}, 0};
    for (const std::string& event : page->events) {
      EventLine line = event_line(event);
      lines.last_sequence = std::max(lines.last_sequence, line.sequence);
      if (!line.passing) lines.lines.push_back(std::move(line));
    }
    tell(std::move(lines));
  });
}

void TopUpdates::ask_needs() {
  ask([this](ApiClient& client) {
    Result<std::string> inbox = api_get(client.destination(), server_.tls(), "/api/v1/inbox?limit=1000");
    if (!inbox) return tell(TopNotice{inbox.error().message});
    TopNeeds news;
    news.total = static_cast<std::size_t>(count_value(find_member(*inbox, "total")).value_or(0));
    for (std::string_view item :
         array_elements(find_member(*inbox, "items")).value_or(std::vector<std::string_view>())) {
      news.needs.push_back({string_value(find_member(item, "taskID")).value_or(""),
                            string_value(find_member(item, "kind")).value_or("")});
    }
    tell(std::move(news));
  });
}

void TopUpdates::ask_input(std::string task, OpenApproval approval) {
  ask([this, task = std::move(task), approval = std::move(approval)](ApiClient& client) {
    Result<AskedInput> input = asked_input(client, task, approval.sequence);
    if (!input) return tell(TopNotice{input.error().message});
    tell(TopAsked{task, approval.id, *std::move(input)});
  });
}

void TopUpdates::send(std::string task, Command command) {
  command.id = "top-" + make_sortable_id(clock_.wall_ms(), random_);
  ask([this, task = std::move(task), command = std::move(command)](ApiClient& client) {
    std::string kind(name(command.kind));
    Result<AcceptedCommand> accepted = client.post_command(task, encode_command(command));
    if (!accepted) return tell(TopNotice{kind + ": " + accepted.error().message});
    tell(TopSent{task, accepted->id, kind});
  });
}

void TopUpdates::ask(Errand errand) {
  {
    MutexLock lock(mutex_);
    errands_.push_back(std::move(errand));
  }
  changed_.notify_all();
}

void TopUpdates::run_errands() {
  while (true) {
    Errand errand;
    {
      MutexLock lock(mutex_);
      while (errands_.empty() && !ending_) changed_.wait(mutex_);
      if (ending_) return;
      errand = std::move(errands_.front());
      errands_.pop_front();
    }
    // Connects each time, because a restarted server may have another address.
    Result<ApiClient> client = connect_server(context_, server_);
    if (client) {
      errand(*client);
    } else {
      tell(TopNotice{client.error().message});
    }
  }
}

}  // namespace shepherd
