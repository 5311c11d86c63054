#include "client/command_wait.h"

#include <thread>

#include "json/scan.h"

namespace shepherd {
namespace {

// Threads: caller.
class Outcome final : public LiveObserver {
 public:
  explicit Outcome(const CommandWait& wait) : wait_(wait) {}

  bool on_event(std::string_view, std::uint64_t, std::string_view event) override {
    std::string_view data = find_member(event, "data");
    if (text_member(data, "id") != wait_.id) return true;
    auto state = command_state(text_member(data, "state"));
    if (!state) return true;
    settled_.state = *state;
    settled_.reason = text_member(data, "reason");
    // A second `accepted` means that a runner holds the command for later, perhaps for hours.
    bool more_to_come = *state == CommandState::delivered && wait_.acknowledged_later;
    return more_to_come;
  }
  void on_gap(std::string_view, std::uint64_t, std::uint64_t) override {}
  void on_state(const LiveChange&) override {}
  void on_complete(std::string_view, std::string_view) override { settled_.task_ended = true; }

  const Settled& settled() const { return settled_; }

 private:
  const CommandWait& wait_;
  Settled settled_;
};

// Stops the client at the deadline. Threads: caller.
class Deadline {
 public:
  Deadline(LiveClient& live, std::chrono::milliseconds most)
      : thread_([this, &live, most] {
          MutexLock lock(mutex_);
          auto until = std::chrono::steady_clock::now() + most;
          while (!over_) {
            auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
            if (left.count() <= 0) break;
            wake_.wait_for(mutex_, left);
          }
          if (!over_) live.stop();
        }) {}
  ~Deadline() {
    {
      MutexLock lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  Mutex mutex_;
  CondVar wake_;
  bool over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

bool acknowledges(std::string_view task_json, CommandKind kind) {
  auto kinds = array_elements(find_member(find_member(task_json, "capabilities"), "acknowledges"));
  if (!kinds) return false;
  for (std::string_view each : *kinds) {
    if (string_value(each) == name(kind)) return true;
  }
  return false;
}

Result<Settled> wait_for_command(Locate locate, const CommandWait& wait, const Clock& clock, Random& random,
                                 net::ClientTls tls) {
  LiveOptions follow{.task = wait.task, .after = wait.sequence, .tail = 0, .cursor = "", .types = "command_result"};
  LiveClient live(std::move(locate), std::move(follow), clock, random, std::move(tls));
  Outcome outcome(wait);
  Result<bool> ended(false);
  {
    Deadline deadline(live, wait.most);
    ended = live.run(outcome);
  }
  if (!ended) return fail(ended.error());
  return outcome.settled();
}

}  // namespace shepherd
