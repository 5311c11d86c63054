// The simplest implementation of a store's rules, to compare real ones with: no batches, no indexes, every number kept
// with its text.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/store_fixture.h"
#include "model/task_fold.h"

namespace shepherd::testing {

struct NaiveTask {
  TaskSpec spec, asked;
  std::int64_t created_ms = 0;
  std::string key;
  std::vector<std::string> events;                                        // all events ever appended, as JSON
  std::vector<std::string> details;                                       // for each event; "": none
  std::vector<std::uint64_t> run_ends;                                    // last numbers of the committed batches
  std::uint64_t dropped = 0;                                              // numbers up to this one were dropped
  std::map<std::pair<std::string, std::uint64_t>, std::string> numbered;  // (producer, number) -> body
  std::map<std::string, std::uint64_t> ids;
  bool ended = false, inferred = false;

  std::uint64_t high(const std::string& producer) const {
    std::uint64_t high = 0;
    for (const auto& [number, body] : numbered) {
      if (number.first == producer) high = std::max(high, number.second);
    }
    return high;
  }
};

class NaiveStore {
 public:
  std::map<std::string, NaiveTask> tasks;
  std::map<std::string, std::string> records;
  std::uint64_t position = 0;

  std::string create(const TaskSpec& spec, std::int64_t created_ms, const std::string& key) {
    auto same = [&](const NaiveTask& task) {
      TaskSpec other = spec;
      other.id = task.asked.id;
      return encode_task_spec(other) == encode_task_spec(task.asked);
    };
    for (const auto& [id, task] : tasks) {
      if (key.empty() || task.key != key) continue;
      return same(task) ? "ok" : "conflict/idempotency_key_reused";
    }
    if (auto known = tasks.find(spec.id); known != tasks.end()) {
      return same(known->second) ? "ok" : "conflict/task_exists";
    }
    NaiveTask task;
    task.spec = task.asked = spec;
    task.created_ms = created_ms;
    task.key = key;
    tasks[spec.id] = std::move(task);
    return "ok";
  }

  // Returns the answer as text, and the number of new events in `added`.
  std::string append(const AppendRequest& request, std::uint64_t& added) {
    added = 0;
    auto found = tasks.find(request.task);
    if (found == tasks.end()) return "not_found/unknown_task";
    NaiveTask work = found->second;
    bool late = work.ended && work.inferred;
    for (const Draft& draft : request.drafts.drafts) {
      std::string body(request.drafts.body(draft));
      std::uint64_t number = request.producer.kind == ProducerKind::none ? 0 : draft.producer_sequence;
      std::pair key{request.producer.kind == ProducerKind::strict ? request.producer.id : std::string(), number};
      bool keyed = false;
      if (request.producer.kind == ProducerKind::strict) {
        if (number > work.high(key.first) + 1) return "conflict/sequence_hole";
        if (auto known = work.numbered.find(key); known != work.numbered.end()) {
          if (known->second == body || is_dropped(work, key)) continue;
          return "conflict/sequence_reused";
        }
        keyed = true;
      } else if (number != 0) {
        if (auto known = work.numbered.find(key); known != work.numbered.end() && !is_dropped(work, key)) {
          if (known->second == body) continue;
        } else {
          keyed = true;
        }
      } else if (!draft.event_id.empty()) {
        if (work.ids.contains(draft.event_id)) continue;
      }
      if (work.ended && !late) return "gone/task_ended";
      std::uint64_t sequence = work.events.size() + 1;
      std::string event;
      append_event(event, sequence, request.received_ms,
                   request.producer.kind == ProducerKind::strict ? request.producer.id : "", late, body);
      work.events.push_back(std::move(event));
      work.details.push_back(draft.detail);
      if (keyed) {
        work.numbered[key] = body;
        numbers_at_[{request.task, key.first, number}] = sequence;
      } else if (number == 0 && !draft.event_id.empty()) {
        work.ids[draft.event_id] = sequence;
      }
      if (is_terminal(end_state_of(draft.type, body)) && !late) {
        work.ended = true;
        work.inferred = request.by_server;
        late = false;
      }
      ++added;
    }
    found->second = std::move(work);
    return "ok";
  }

  void drop(NaiveTask& task, std::uint64_t through) {
    for (std::uint64_t end : task.run_ends) {
      if (end <= through) task.dropped = std::max(task.dropped, end);
    }
    std::erase_if(task.ids, [&](const auto& id) { return id.second <= task.dropped; });
  }

 private:
  bool is_dropped(const NaiveTask& task, const std::pair<std::string, std::uint64_t>& key) const {
    auto at = numbers_at_.find({task.spec.id, key.first, key.second});
    return at != numbers_at_.end() && at->second <= task.dropped;
  }
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::uint64_t> numbers_at_;
};

}  // namespace shepherd::testing
