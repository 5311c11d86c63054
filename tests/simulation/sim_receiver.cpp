#include "sim_receiver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "outbound/limits.h"

namespace shepherd::simulation {
namespace {

std::string header_of(const net::HeaderList& headers, std::string_view wanted) {
  for (const auto& [name, value] : headers) {
    if (name == wanted) return value;
  }
  return {};
}

// A webhook-id is "TASK.CREATED" for the end and "TASK.CREATED.SEQUENCE" for a report.
std::string task_of(const std::string& id) {
  return id.substr(0, id.find('.', id.find('.') + 1));
}

std::uint64_t sequence_of(const std::string& id) {
  std::string task = task_of(id);
  return id == task ? UINT64_MAX : std::stoull(id.substr(task.size() + 1));
}

}  // namespace

class SimReceiver::Poster final : public CallbackPoster {
 public:
  explicit Poster(SimReceiver& receiver) : receiver_(receiver) {}
  void post(CallbackPost request, Done done) override { receiver_.arrive(*this, request, std::move(done)); }
  void stop() override { receiver_.give_up(*this); }

 private:
  SimReceiver& receiver_;
};

std::unique_ptr<CallbackPoster> SimReceiver::make_poster() {
  return std::make_unique<Poster>(*this);
}

void SimReceiver::arrive(const Poster& from, const CallbackPost& request, CallbackPoster::Done done) {
  std::string id = header_of(request.headers, "webhook-id");
  std::string task = task_of(id);
  for (const Held& held : held_) {
    EXPECT_NE(task_of(held.id), task) << "two callbacks of one task at a time: " << held.id << " and " << id;
  }
  if (seen_.insert(id).second) {
    std::vector<std::uint64_t>& begun = begun_[task];
    EXPECT_TRUE(begun.empty() || begun.back() < sequence_of(id)) << id << " comes after a later one";
    begun.push_back(sequence_of(id));
  }
  held_.push_back({&from, std::move(id), clock_.steady_ms() + kCallbackTimeout.count(), std::move(done)});
}

void SimReceiver::give_up(const Poster& from) {
  std::erase_if(held_, [&](const Held& held) { return held.from == &from; });
}

void SimReceiver::answer(std::size_t which, bool good) {
  Held held = std::move(held_[which]);
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
  bool late = held.until_ms <= clock_.steady_ms();
  auto luck = good ? 0 : random_.below(10);
  if (luck < 6) accepted_.insert(held.id);
  if (late || luck == 5 || luck == 9) {
    held.done(fail(ErrorCode::unavailable, "timed_out", "no answer"));  // sometimes although it was accepted
  } else {
    held.done(luck < 6 ? 200 : 500);
  }
}

void SimReceiver::act() {
  if (!held_.empty()) answer(random_.below(held_.size()), false);
}

bool SimReceiver::accept_all() {
  bool any = !held_.empty();
  while (!held_.empty()) answer(0, true);
  return any;
}

}  // namespace shepherd::simulation
