#include "follow/leftovers.h"

#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "store/limits.h"

namespace shepherd {

struct Leftovers::Impl : std::enable_shared_from_this<Leftovers::Impl> {
  explicit Impl(Journal& to) : journal(to) {}

  // Starts if there may be leftovers and no piece is on its way.
  void start() EXCLUDES(mutex) {
    {
      MutexLock lock(mutex);
      if (stopped || active || !due) return;
      active = true;
      due = false;
    }
    journal.write([](WriteTxn& txn) { return txn.erase_leftovers(kLeftoverRows); },
                  [self = shared_from_this()](const Result<bool>& more) { self->finished(more); });
  }

  void finished(const Result<bool>& more) EXCLUDES(mutex) {
    if (!more) log_warn("rows of deleted tasks stay for now: {}", more.error().message);
    {
      MutexLock lock(mutex);
      active = false;
      due = due || !more || *more;
    }
    if (more) start();
  }

  void look() EXCLUDES(mutex) {
    {
      MutexLock lock(mutex);
      due = true;
    }
    start();
  }

  Journal& journal;
  std::unique_ptr<Follower> follower;
  Mutex mutex;
  bool due GUARDED_BY(mutex) = true;  // there may be leftovers; at the start, those of before
  bool active GUARDED_BY(mutex) = false;
  bool stopped GUARDED_BY(mutex) = false;
};

Leftovers::Leftovers(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Leftovers::~Leftovers() {
  stop();
}

Result<std::unique_ptr<Leftovers>> Leftovers::open(Journal& journal, Executor& workers) {
  auto impl = std::make_shared<Impl>(journal);
  FollowOptions options;
  options.name = "removing deleted tasks";
  options.events = false;
  auto follower = journal.follow(std::move(options), workers, [raw = impl.get()](const News& news, auto done) {
    if (!news.deleted.empty() || news.restarted) raw->look();
    done(true);
  });
  if (!follower) return fail(follower.error());
  impl->follower = std::move(*follower);
  impl->start();
  return std::unique_ptr<Leftovers>(new Leftovers(std::move(impl)));
}

void Leftovers::tick() {
  impl_->start();
}

void Leftovers::stop() {
  impl_->follower->stop();
  MutexLock lock(impl_->mutex);
  impl_->stopped = true;
}

}  // namespace shepherd
