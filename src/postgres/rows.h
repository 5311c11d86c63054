// What a statement answered. Columns are read in PostgreSQL's binary format, so bytes need no decoding.
// Threads: value.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace shepherd {

class PostgresRows {
 public:
  PostgresRows() = default;
  explicit PostgresRows(PGresult* result) : result_(result) {}

  std::size_t size() const { return result_ ? static_cast<std::size_t>(PQntuples(result_.get())) : 0; }
  bool empty() const { return size() == 0; }
  // The number of rows that an INSERT, UPDATE or DELETE changed.
  std::uint64_t changed() const;

  bool null(std::size_t row, int column) const {
    return PQgetisnull(result_.get(), static_cast<int>(row), column) != 0;
  }
  // Of bigint, integer, smallint and boolean columns; 0 for NULL.
  std::int64_t integer(std::size_t row, int column) const;
  std::uint64_t number(std::size_t row, int column) const { return static_cast<std::uint64_t>(integer(row, column)); }
  // Of text and bytea columns; empty for NULL. Valid as long as this object.
  std::string_view bytes(std::size_t row, int column) const;
  std::string text(std::size_t row, int column) const { return std::string(bytes(row, column)); }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

}  // namespace shepherd
