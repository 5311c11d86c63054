#include "postgres/rows.h"

#include <charconv>

namespace shepherd {

std::uint64_t PostgresRows::changed() const {
  std::string_view count = result_ ? PQcmdTuples(result_.get()) : "";
  std::uint64_t rows = 0;
  std::from_chars(count.data(), count.data() + count.size(), rows);
  return rows;
}

std::string_view PostgresRows::bytes(std::size_t row, int column) const {
  int at = static_cast<int>(row);
  return {PQgetvalue(result_.get(), at, column), static_cast<std::size_t>(PQgetlength(result_.get(), at, column))};
}

std::int64_t PostgresRows::integer(std::size_t row, int column) const {
  std::string_view value = bytes(row, column);
  if (value.empty()) return 0;
  // Big-endian, with the sign in the first byte.
  std::uint64_t number = (static_cast<unsigned char>(value[0]) & 0x80) != 0 && value.size() > 1 ? ~std::uint64_t{0} : 0;
  for (char byte : value) number = (number << 8) | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(number);
}

}  // namespace shepherd
