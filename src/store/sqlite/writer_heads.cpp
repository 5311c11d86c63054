#include "store/sqlite/writer_heads.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "model/task_fold.h"
#include "model/wire_json.h"
#include "store/batch_fold.h"
#include "store/sqlite/task_row.h"

namespace shepherd {

void WriterHeads::begin() {
  ++transaction_;
  waiting_taken_ = 0;
  changed_.clear();
  erased_.clear();
}

void WriterHeads::commit() {
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_taken_));
  waiting_taken_ = 0;
  std::size_t waited_before = waiting_.size();
  for (WriterHead* head : changed_) {
    SHEPHERD_ASSERT(unplaced_ >= head->unplaced_before, "each unplaced batch is counted once");
    if (head->placed) unplaced_ -= head->unplaced_before;
    bool waited = head->unplaced_before > 0 && !head->placed;
    std::size_t kept = waited ? head->unplaced_before : 0;
    unplaced_ += head->unplaced.size() - kept;
    if (!waited && !head->unplaced.empty()) waiting_.push_back({head->id, head->unplaced.front().position});
    head->unplaced_before = head->unplaced.size();
    head->placed = false;
  }
  std::sort(waiting_.begin() + static_cast<std::ptrdiff_t>(waited_before), waiting_.end(),
            [](const Waiting& one, const Waiting& other) { return one.position < other.position; });
  for (const auto& head : erased_) unplaced_ -= head->unplaced_before;
  changed_.clear();
  erased_.clear();
}

void WriterHeads::rollback() {
  // Stale heads count as dirty, because the rollback also undoes what the transaction wrote of them.
  auto take_back = [this](WriterHead& head) {
    head.stale = head.dirty = true;
    head.placed = false;
    head.unplaced = committed_.unplaced(head.id);
    head.unplaced_before = head.unplaced.size();
  };
  for (WriterHead* head : changed_) take_back(*head);
  // If a task was erased and created again, the erased one is the committed one.
  for (auto& head : erased_) {
    take_back(*head);
    std::string id = head->id;
    heads_[id] = std::move(head);
  }
  waiting_taken_ = 0;
  changed_.clear();
  erased_.clear();
}

void WriterHeads::begin_part() {
  SHEPHERD_ASSERT(!in_part_ && saved_.empty(), "parts of a transaction are not nested");
  in_part_ = true;
  ++parts_;
}

void WriterHeads::end_part() {
  in_part_ = false;
  saved_.clear();
}

// Later copies first: a task that was erased and created again gets its first copy last.
void WriterHeads::undo_part() {
  in_part_ = false;
  while (!saved_.empty()) {
    Saved saved = std::move(saved_.back());
    saved_.pop_back();
    auto known = heads_.find(saved.task);
    auto erased = std::ranges::find_if(erased_, [&](const auto& head) { return head->id == saved.task; });
    if (!saved.head) {  // created in this part, and perhaps erased again
      if (known == heads_.end()) {
        if (erased != erased_.end()) erased_.erase(erased);
        continue;
      }
      std::erase(changed_, known->second.get());
      heads_.erase(known);
      continue;
    }
    if (known == heads_.end() && erased != erased_.end()) {
      known = heads_.emplace(saved.task, std::move(*erased)).first;
      erased_.erase(erased);
      changed_.push_back(known->second.get());
    }
    SHEPHERD_ASSERT(known != heads_.end(), "what a part erased is kept until the transaction ends");
    // It stays in the list of changed heads, so it counts as used in this transaction.
    saved.head->used_in = transaction_;
    *known->second = std::move(*saved.head);
  }
}

void WriterHeads::save(const std::string& task, const WriterHead* head) {
  saved_.push_back({task, head == nullptr ? nullptr : std::make_unique<WriterHead>(*head)});
}

void WriterHeads::change(WriterHead& head) {
  if (in_part_ && head.part != parts_) {
    save(head.id, &head);
    head.part = parts_;
  }
  if (head.used_in == transaction_) return;
  head.used_in = transaction_;
  changed_.push_back(&head);
}

Result<WriterHead*> WriterHeads::find(const std::string& task) {
  auto known = heads_.find(task);
  if (known == heads_.end() || known->second->stale) {
    auto loaded = load(task);
    if (!loaded) return fail(std::move(loaded.error()));
    if (!*loaded) {
      if (known != heads_.end()) heads_.erase(known);
      return nullptr;
    }
    known = heads_.insert_or_assign(task, std::move(*loaded)).first;
  }
  change(*known->second);
  return known->second.get();
}

WriterHead& WriterHeads::add(const Task& task, std::int64_t key) {
  auto& head = heads_[task.spec.id];
  head = std::make_unique<WriterHead>();
  head->id = task.spec.id;
  head->key = key;
  head->created_ms = task.created_ms;
  head->info = info_of(task.spec);
  if (in_part_) save(head->id, nullptr);
  head->part = parts_;
  change(*head);
  return *head;
}

void WriterHeads::erase(const std::string& task) {
  auto known = heads_.find(task);
  if (known == heads_.end()) return;
  change(*known->second);
  std::erase(changed_, known->second.get());
  // A head created in this transaction was never committed. If it is restored, it is loaded again and found missing.
  erased_.insert(erased_.begin(), std::move(known->second));
  heads_.erase(known);
}

Result<std::unique_ptr<WriterHead>> WriterHeads::load(const std::string& task) {
  auto head = std::make_unique<WriterHead>();
  {
    static const std::string sql = std::string("SELECT ") + kRowColumns + " FROM " + kRowTables + " WHERE task.id = ?";
    auto row = database_.use(sql.c_str(), task);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return nullptr;
    head->id = task;
    head->key = row.integer(0);
    TaskRow stored = row_of(row);
    head->created_ms = stored.created_ms;
    head->info = std::move(stored.spec);
    head->head.state = std::move(stored.state);
    head->written_state = head->head.state.state;
    head->written_pr_url = head->head.state.pr_url;
  }
  head->unplaced = committed_.unplaced(task);
  head->unplaced_before = head->unplaced.size();
  if (auto done = load_producers(*head); !done) return fail(std::move(done.error()));
  if (auto done = fold_unprojected(*head); !done) return fail(std::move(done.error()));
  return head;
}

Result<void> WriterHeads::load_producers(WriterHead& head) {
  auto row = database_.use("SELECT key, name, high, holes FROM producer WHERE task = ?", head.key);
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return {};
    std::string name = row.text(1);
    ProducerNumbers numbers = ProducerNumbers::decode(row.number(2), row.bytes(3));
    head.producer_rows[name] = {row.integer(0), numbers};
    if (numbers.high() > 0) head.head.producers[name] = std::move(numbers);
  }
}

Result<void> WriterHeads::fold_unprojected(WriterHead& head) {
  auto walk = BatchWalk::up(database_, head.key, head.head.state.last_sequence + 1, head.unplaced);
  for (;;) {
    auto found = walk.next();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return {};
    const Statement& row = **found;
    EventBatch batch;
    batch.task = head.id;
    if (auto done = read_batch(row, batch); !done) return done;
    if (auto done = fold_batch(head.head.state, batch); !done) return done;
    if (!row.null(kBatchProducer)) {
      for (auto& [name, producer] : head.producer_rows) {
        if (producer.key != row.integer(kBatchProducer)) continue;
        head.head.producers[name].use(row.number(kBatchProducerFirst), batch.size());
      }
    }
    if (!row.null(kBatchLooseFirst)) head.head.producers[""].use(row.number(kBatchLooseFirst), batch.size());
    head.dirty = true;
  }
}

Result<void> WriterHeads::place_batches(WriterHead& head) {
  if (head.unplaced.empty()) return {};
  change(head);
  for (const BatchPlace& batch : head.unplaced) {
    auto done =
        database_
            .use("INSERT INTO run_place(task, last, position) VALUES(?, ?, ?)", head.key, batch.last, batch.position)
            .run();
    if (!done) return done;
  }
  head.unplaced.clear();
  head.placed = true;
  return {};
}

bool WriterHeads::still_waits(const Waiting& waiting) const {
  auto head = heads_.find(waiting.task);
  return head != heads_.end() && !head->second->unplaced.empty() &&
         head->second->unplaced.front().position == waiting.position;
}

Result<void> WriterHeads::place_oldest(std::size_t most, std::uint64_t position) {
  if (unplaced_ <= most) return {};
  std::size_t placed = 0;
  for (; unplaced_ - placed > most && waiting_taken_ < waiting_.size(); ++waiting_taken_) {
    const Waiting& waiting = waiting_[waiting_taken_];
    auto head = heads_.find(waiting.task);
    if (head == heads_.end()) continue;
    if (head->second->stale) {
      auto loaded = find(waiting.task);
      if (!loaded) return fail(std::move(loaded.error()));
      head = heads_.find(waiting.task);
    }
    if (head == heads_.end() || !still_waits(waiting)) continue;
    placed += head->second->unplaced_before;
    if (auto done = place_batches(*head->second); !done) return done;
  }
  for (std::size_t i = waiting_taken_; i < waiting_.size(); ++i) {
    if (still_waits(waiting_[i])) return set_placed_through(waiting_[i].position - 1);
  }
  return set_placed_through(position);
}

Result<void> WriterHeads::place_all(std::uint64_t position) {
  for (auto& [task, head] : heads_) {
    if (auto done = place_batches(*head); !done) return done;
  }
  return set_placed_through(position);
}

Result<void> WriterHeads::set_placed_through(std::uint64_t position) {
  return database_.use("UPDATE meta SET value = ? WHERE name = 'placed_through'", position).run();
}

Result<void> WriterHeads::write(WriterHead& head) {
  const TaskState& state = head.head.state;
  std::string projection = encode_task_state(state);
  std::string_view state_name = name(state.state);
  auto done = database_
                  .use("UPDATE task SET state = ?, first = ?, last = ?, projection = ? WHERE key = ?", state_name,
                       state.first_sequence, state.last_sequence, projection, head.key)
                  .run();
  if (!done) return done;
  for (auto& [producer, row] : head.producer_rows) {
    const ProducerNumbers& numbers = head.head.producers[producer];
    if (numbers == row.written) continue;
    std::string holes = numbers.encode_holes();
    done = database_.use("UPDATE producer SET high = ?, holes = ? WHERE key = ?", numbers.high(), holes, row.key).run();
    if (!done) return done;
    row.written = numbers;
  }
  head.written_state = state.state;
  head.written_pr_url = state.pr_url;
  head.dirty = false;
  return {};
}

Result<void> WriterHeads::write_dirty() {
  std::vector<std::string> stale;
  for (auto& [task, head] : heads_) {
    if (head->stale) stale.push_back(task);
  }
  for (const std::string& task : stale) {
    if (auto head = find(task); !head) return fail(std::move(head.error()));
  }
  for (auto& [task, head] : heads_) {
    if (!head->dirty) continue;
    change(*head);
    if (auto done = write(*head); !done) return done;
  }
  return {};
}

std::vector<std::string> WriterHeads::evict(std::size_t most) {
  std::vector<std::string> evicted;
  if (heads_.size() <= most) return evicted;
  std::vector<std::uint64_t> uses;
  uses.reserve(heads_.size());
  for (const auto& [task, head] : heads_) uses.push_back(head->used_in);
  auto oldest = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() - most + most / 4);
  std::nth_element(uses.begin(), oldest, uses.end());
  for (auto head = heads_.begin(); head != heads_.end();) {
    if (head->second->used_in < *oldest && !head->second->dirty && head->second->unplaced.empty()) {
      evicted.push_back(head->first);
      head = heads_.erase(head);
    } else {
      ++head;
    }
  }
  return evicted;
}

}  // namespace shepherd
