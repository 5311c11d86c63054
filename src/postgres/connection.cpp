#include "postgres/connection.h"

#include <utility>

#include "base/assert.h"
#include "postgres/limits.h"

namespace shepherd {

namespace {

// The numbers that PostgreSQL's catalog gives to its types.
constexpr Oid kBytea = 17, kBigint = 20, kText = 25;
constexpr int kBinary = 1;

Error unreachable(const std::string& place, std::string_view reason) {
  while (!reason.empty() && reason.back() == '\n') reason.remove_suffix(1);
  return Error{ErrorCode::unavailable,
               "database_unreachable",
               "The database at " + place + " cannot be reached (" + std::string(reason) +
                   "). Try again in a moment; `shepherd doctor` checks the connection.",
               {}};
}

std::string place_of(const PGconn* connection) {
  auto part = [](const char* text) { return std::string(text == nullptr ? "" : text); };
  return part(PQhost(connection)) + ":" + part(PQport(connection)) + "/" + part(PQdb(connection));
}

void ignore_notice(void*, const PGresult*) {}

}  // namespace

PostgresValue::PostgresValue(std::int64_t number) : type_(kBigint), size_(8) {
  auto bits = static_cast<std::uint64_t>(number);
  for (std::size_t i = number_.size(); i-- > 0; bits >>= 8) number_[i] = static_cast<char>(bits & 0xFF);
}

PostgresValue::PostgresValue(std::string_view text)
    : type_(kText), data_(text.data() == nullptr ? "" : text.data()), size_(static_cast<int>(text.size())) {}

PostgresValue::PostgresValue(Bytea bytes) : PostgresValue(bytes.bytes) {
  type_ = kBytea;
}

const char* PostgresValue::data() const {
  if (size_ < 0) return nullptr;
  return data_ == nullptr ? number_.data() : data_;
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const std::string& url) {
  const std::string connect = std::to_string(kPostgresConnect.count());
  const std::string silence = std::to_string(std::chrono::milliseconds(kPostgresSilence).count());
  // The URL comes last, so what it says about these wins.
  const std::array<const char*, 7> keys{"connect_timeout",
                                        "tcp_user_timeout",
                                        "keepalives_idle",
                                        "application_name",
                                        "client_encoding",
                                        "dbname",
                                        nullptr};
  const std::array<const char*, 7> values{connect.c_str(), silence.c_str(), connect.c_str(), "shepherd",
                                          "UTF8",          url.c_str(),     nullptr};
  PGconn* opened = PQconnectdbParams(keys.data(), values.data(), 1);
  if (opened == nullptr) return fail(unreachable("the configured address", "out of memory"));
  std::unique_ptr<PostgresConnection> connection(new PostgresConnection(opened));
  if (PQstatus(opened) != CONNECTION_OK) return fail(unreachable(connection->place_, PQerrorMessage(opened)));
  PQsetNoticeReceiver(opened, ignore_notice, nullptr);
  auto set = connection->execute(
      "SET statement_timeout = " + std::to_string(std::chrono::milliseconds(kPostgresStatement).count()) +
      "; SET lock_timeout = " + std::to_string(kPostgresLock.count()) + "; SET idle_in_transaction_session_timeout = " +
      std::to_string(std::chrono::milliseconds(kPostgresStatement).count()));
  if (!set) return fail(std::move(set.error()));
  return connection;
}

PostgresConnection::PostgresConnection(PGconn* connection) : connection_(connection), place_(place_of(connection)) {}

PostgresConnection::~PostgresConnection() {
  PQfinish(connection_);
}

bool PostgresConnection::broken() const {
  return PQstatus(connection_) != CONNECTION_OK;
}

Error PostgresConnection::error(const PGresult* result) const {
  const char* field = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  std::string_view state = field == nullptr ? "" : field;
  if (state.empty() || broken()) return unreachable(place_, PQerrorMessage(connection_));
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  std::string message = primary == nullptr ? "no reason" : primary;
  // serialization failure, deadlock, another transaction's lock, a row that another transaction added first
  if (state == "40001" || state == "40P01" || state == "55P03" || state == "23505") {
    return Error{ErrorCode::unavailable,
                 "conflicting_write",
                 "Another process wrote the same at the same time (" + message + "). Try again.",
                 {}};
  }
  // disk full, or the file system's quota
  if (state == "53100") return Error{ErrorCode::storage_full, "disk_full", "The database's disk is full.", {}};
  // too many connections, a statement that took too long, a server that stops, starts or is a standby
  if (state.starts_with("53") || state.starts_with("57") || state == "25006") {
    return Error{ErrorCode::unavailable, "busy", "The database at " + place_ + " is busy: " + message + ".", {}};
  }
  return Error{ErrorCode::internal,
               "database_refused",
               "The database at " + place_ + " refused a statement (" + std::string(state) + ": " + message + ").",
               {}};
}

Result<void> PostgresConnection::execute(const std::string& script) {
  SHEPHERD_ASSERT(sent_.empty(), "a script runs outside the pipeline");
  if (PQpipelineStatus(connection_) != PQ_PIPELINE_OFF) PQexitPipelineMode(connection_);
  PGresult* result = PQexec(connection_, script.c_str());
  ExecStatusType status = PQresultStatus(result);
  Result<void> done;
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) done = fail(error(result));
  PQclear(result);
  return done;
}

void PostgresConnection::send_values(const char* sql, const PostgresValue* values, std::size_t count) {
  if (failed_) return;  // collect() says why
  if (PQpipelineStatus(connection_) == PQ_PIPELINE_OFF) PQenterPipelineMode(connection_);
  std::vector<Oid> types;
  std::vector<const char*> data;
  std::vector<int> sizes, formats(count, kBinary);
  for (std::size_t i = 0; i < count; ++i) {
    types.push_back(values[i].type());
    data.push_back(values[i].data());
    sizes.push_back(values[i].size());
  }
  auto known = prepared_.find(sql);
  if (known == prepared_.end()) {
    known = prepared_.emplace(sql, "s" + std::to_string(++names_)).first;
    if (PQsendPrepare(connection_, known->second.c_str(), sql, static_cast<int>(count), types.data()) == 0) {
      failed_ = error(nullptr);
      return;
    }
    sent_.push_back({sql});
  }
  if (PQsendQueryPrepared(connection_, known->second.c_str(), static_cast<int>(count), data.data(), sizes.data(),
                          formats.data(), kBinary) == 0) {
    failed_ = error(nullptr);
    return;
  }
  sent_.push_back({nullptr});
  if (sent_.size() >= kPostgresPipeline) read_answers();
}

// Reads the answers to everything that was sent. An explicit transaction goes on after it.
void PostgresConnection::read_answers() {
  if (sent_.empty()) return;
  if (!failed_ && PQpipelineSync(connection_) == 0) failed_ = error(nullptr);
  for (const Sent& sent : std::exchange(sent_, {})) {
    PGresult* result = broken() ? nullptr : PQgetResult(connection_);
    ExecStatusType status = PQresultStatus(result);
    bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good && sent.prepares != nullptr) prepared_.erase(sent.prepares);
    if (!good && !failed_ && status != PGRES_PIPELINE_ABORTED) failed_ = error(result);
    if (good && sent.prepares == nullptr) {
      answers_.emplace_back(result);
    } else {
      PQclear(result);
    }
    while (!broken()) {  // the end of this statement's answers
      PGresult* more = PQgetResult(connection_);
      if (more == nullptr) break;
      PQclear(more);
    }
  }
  if (broken()) {
    if (!failed_) failed_ = error(nullptr);
    return;
  }
  PGresult* end = PQgetResult(connection_);
  SHEPHERD_ASSERT(broken() || PQresultStatus(end) == PGRES_PIPELINE_SYNC, "the answers end where the statements do");
  PQclear(end);
}

Result<std::vector<PostgresRows>> PostgresConnection::collect() {
  read_answers();
  statements_ = 0;
  auto answers = std::exchange(answers_, {});
  if (auto failed = std::exchange(failed_, std::nullopt)) return fail(*std::move(failed));
  return answers;
}

}  // namespace shepherd
