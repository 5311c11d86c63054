#include "llm/chunk_json.h"

#include "json/escapes.h"
#include "json/text.h"
#include "llm/limits.h"
#include "llm/utf8_gate.h"

namespace shepherd {
namespace {

// A byte above ASCII as a character of the last plane: U+10FE80 to U+10FEFF.
constexpr std::string_view kMendLead = "\xF4\x8F";
constexpr unsigned char kMendThird = 0xB8;

std::string mended(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + 16);
  while (!bytes.empty()) {
    Utf8Start next = utf8_start(bytes);
    if (next.kind == Utf8Start::Kind::whole) {
      out.append(bytes.substr(0, next.size));
    } else {
      for (char c : bytes.substr(0, next.size)) {
        auto byte = static_cast<unsigned char>(c);
        out.append(kMendLead);
        out.push_back(static_cast<char>(kMendThird | (byte >> 6U)));
        out.push_back(static_cast<char>(0x80U | (byte & 0x3FU)));
      }
    }
    bytes.remove_prefix(next.size);
  }
  return out;
}

std::string unmended(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto third = text.size() < 4 ? 0U : static_cast<unsigned char>(text[2]);
    if (text.starts_with(kMendLead) && (third & 0xFCU) == kMendThird) {
      out.push_back(static_cast<char>(((third & 3U) << 6U) | (static_cast<unsigned char>(text[3]) & 0x3FU)));
      text.remove_prefix(4);
    } else {
      out.push_back(text.front());
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::optional<simdjson::dom::element> ChunkJson::parse(std::string_view json) {
  mended_ = false;
  if (!texts_.empty()) texts_.clear();
  parser_.emplace(json.size());
  if (auto root = parser_->parse(json)) return *root;
  std::string again;
  if (!is_utf8(json)) {
    again = mended(json);
    mended_ = true;
    json = again;
  }
  std::string whole;
  if (auto without = without_lone_surrogates(json)) {
    whole = *std::move(without);
    json = whole;
  }
  parser_.emplace(json.size());
  if (auto root = parser_->parse(json)) return *root;
  return std::nullopt;
}

std::string_view ChunkJson::text(simdjson::dom::element value) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return {};
  return mended_ ? texts_.emplace_back(unmended(text)) : text;
}

std::string_view ChunkJson::text(simdjson::dom::element object, std::string_view key) {
  auto value = member_of(object, key);
  return value ? text(*value) : std::string_view();
}

std::string ChunkJson::compact(simdjson::dom::element value) {
  std::string json = simdjson::minify(value);
  return mended_ ? unmended(json) : json;
}

std::optional<simdjson::dom::element> member_of(simdjson::dom::element object, std::string_view key) {
  simdjson::dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> count_in(simdjson::dom::element object, std::string_view key) {
  auto value = member_of(object, key);
  double real = 0;
  if (!value || value->get(real) != simdjson::SUCCESS) return std::nullopt;
  if (!(real >= 0 && real <= static_cast<double>(kMaxCount))) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

}  // namespace shepherd
