#include "store/sqlite/task_row.h"

#include "json/write.h"
#include "model/task_fold.h"
#include "model/wire_json.h"

namespace shepherd {

namespace {

std::string labels_json(const TaskInfo& spec) {
  std::string json = "{";
  for (const auto& [key, value] : spec.labels) {
    if (json.size() > 1) json += ',';
    append_json_string(json, key);
    json += ':';
    append_json_string(json, value);
  }
  return json + "}";
}

}  // namespace

TaskRow row_of(const Statement& row) {
  return {decode_task_info(row.bytes(3)), decode_task_state(row.bytes(2)), row.integer(1)};
}

Result<std::optional<TaskRow>> read_task_row(Database& database, const std::string& id) {
  static const std::string sql = std::string("SELECT ") + kRowColumns + " FROM " + kRowTables + " WHERE task.id = ?";
  auto row = database.use(sql.c_str(), id);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  if (!*found) return std::nullopt;
  return row_of(row);
}

Result<std::optional<TaskSpec>> read_task_spec(Database& database, const std::string& id) {
  auto row =
      database.use("SELECT task_spec.spec FROM task JOIN task_spec ON task_spec.task = task.key WHERE task.id = ?", id);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  if (!*found) return std::nullopt;
  return decode_task_spec(row.bytes(0));
}

Result<std::int64_t> insert_task_row(Database& database, const Task& task, const std::string& request_hash,
                                     const std::string& idempotency_key) {
  const TaskSpec& spec = task.spec;
  std::string labels = labels_json(spec);
  std::string projection = encode_task_state(task.state);
  std::optional<std::string_view> key_text;
  if (!idempotency_key.empty()) key_text = idempotency_key;
  auto done = database
                  .use(
                      "INSERT INTO task(id, created, request, idempotency_key, agent, workflow, repo, source, labels,"
                      " state, first, last, projection) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)",
                      spec.id, task.created_ms, Blob{request_hash}, key_text, spec.agent, spec.workflow_id,
                      spec.repo_url, spec.source_id, labels, name(task.state.state), projection)
                  .run();
  if (!done) return fail(std::move(done.error()));
  std::int64_t key = database.last_key();
  std::string json = encode_task_spec(spec);
  done = database.use("INSERT INTO task_spec(task, spec) VALUES(?, ?)", key, json).run();
  if (!done) return fail(std::move(done.error()));
  std::string info = encode_task_info(info_of(spec));
  done = database.use("INSERT INTO task_info(task, info) VALUES(?, ?)", key, info).run();
  if (!done) return fail(std::move(done.error()));
  return key;
}

Result<void> update_task_row(Database& database, std::int64_t key, const TaskSpec& spec) {
  std::string labels = labels_json(spec);
  std::string json = encode_task_spec(spec);
  auto done = database.use("UPDATE task SET labels = ? WHERE key = ?", labels, key).run();
  if (!done) return done;
  done = database.use("UPDATE task_spec SET spec = ? WHERE task = ?", json, key).run();
  if (!done) return done;
  std::string info = encode_task_info(info_of(spec));
  return database.use("UPDATE task_info SET info = ? WHERE task = ?", info, key).run();
}

}  // namespace shepherd
