#include "json/text.h"

#include <simdjson.h>

namespace shepherd {

bool is_utf8(std::string_view bytes) {
  return simdjson::validate_utf8(bytes.data(), bytes.size());
}

bool append_compact_json(std::string& out, std::string_view json) {
  std::size_t before = out.size();
  std::size_t written = 0;
  out.resize(before + json.size());
  bool good = simdjson::minify(json.data(), json.size(), out.data() + before, written) == simdjson::SUCCESS;
  out.resize(before + (good ? written : 0));
  return good;
}

}  // namespace shepherd
