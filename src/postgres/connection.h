// A connection to PostgreSQL. Statements are prepared on first use and sent one after the other without waiting
// (libpq's pipeline); collect() reads their answers.
//
//   connection.send("INSERT INTO record(kind, key) VALUES($1, $2)", kind, key);
//   connection.send("SELECT count(*) FROM record");
//   auto answers = connection.collect();   // Result<std::vector<PostgresRows>>, one for each statement
//
// After a failed statement the server skips the others up to collect(), which returns the first error. This is the only
// place that turns PostgreSQL's codes into errors.
//
// Failures: unavailable/database_unreachable (no connection, or it broke: whether the last statements ran is unknown);
// unavailable/conflicting_write (another transaction was first; run the whole transaction again); unavailable/busy;
// storage_full; internal/database_refused.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "postgres/rows.h"

namespace shepherd {

struct Bytea {
  std::string_view bytes;
};

// A bound value. Text and bytes are not copied; they must live until send() returns.
class PostgresValue {
 public:
  explicit PostgresValue(std::int64_t number);
  explicit PostgresValue(std::uint64_t number) : PostgresValue(static_cast<std::int64_t>(number)) {}
  explicit PostgresValue(int number) : PostgresValue(std::int64_t{number}) {}
  explicit PostgresValue(std::string_view text);
  explicit PostgresValue(const std::string& text) : PostgresValue(std::string_view(text)) {}
  explicit PostgresValue(const char* text) : PostgresValue(std::string_view(text)) {}
  explicit PostgresValue(Bytea bytes);
  explicit PostgresValue(std::nullopt_t /*null*/) {}
  template <class T>
  explicit PostgresValue(const std::optional<T>& value)
      : PostgresValue(value ? PostgresValue(*value) : PostgresValue(std::nullopt)) {}

  Oid type() const { return type_; }
  const char* data() const;
  int size() const { return size_; }

 private:
  Oid type_ = 0;
  std::array<char, 8> number_{};
  const char* data_ = nullptr;  // of text and bytes
  int size_ = -1;               // negative: NULL
};

// Owns the connection. Threads: caller (one at a time).
class PostgresConnection {
 public:
  // `url` is a connection URI or string of libpq; with "sslmode" and its like it says how TLS is used.
  static Result<std::unique_ptr<PostgresConnection>> open(const std::string& url);
  ~PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // `sql` must keep its address, which is the key of the prepared statements. Returns the place of the answer in what
  // the next collect() returns.
  template <class... Values>
  std::size_t send(const char* sql, const Values&... values) {
    std::array<PostgresValue, sizeof...(Values)> bound{PostgresValue(values)...};
    send_values(sql, bound.data(), bound.size());
    return statements_++;
  }
  // The answers to everything that was sent since the last collect(), in order.
  Result<std::vector<PostgresRows>> collect();
  // Sends one statement and returns its answer. Nothing else may be waiting for collect().
  template <class... Values>
  Result<PostgresRows> run(const char* sql, const Values&... values) {
    send(sql, values...);
    auto answers = collect();
    if (!answers) return fail(std::move(answers.error()));
    return std::move(answers->back());
  }
  // Runs several statements without values or rows, outside the pipeline.
  Result<void> execute(const std::string& script);

  // The connection is gone; it answers only errors from now on.
  bool broken() const;
  // The address, without user and password, for messages.
  const std::string& place() const { return place_; }

 private:
  explicit PostgresConnection(PGconn* connection);
  void send_values(const char* sql, const PostgresValue* values, std::size_t count);
  void read_answers();
  Error error(const PGresult* result) const;

  struct Sent {
    const char* prepares;  // this SQL; nullptr: runs a statement
  };
  PGconn* connection_;
  std::string place_;
  std::unordered_map<const char*, std::string> prepared_;  // SQL to the statement's name
  std::uint64_t names_ = 0;
  std::vector<Sent> sent_;
  std::size_t statements_ = 0;  // since the last collect()
  std::vector<PostgresRows> answers_;
  std::optional<Error> failed_;
};

}  // namespace shepherd
