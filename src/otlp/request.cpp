#include "otlp/request.h"

#include <charconv>
#include <cmath>

#include "json/write.h"
#include "otlp/limits.h"

namespace shepherd {
namespace {

std::optional<double> parsed_number(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

}  // namespace

void append_otlp_value(std::string& out, const OtlpValue& value) {
  switch (value.kind) {
    case OtlpValue::Kind::none:
      out.append("null");
      return;
    case OtlpValue::Kind::text:
      append_json_string(out, value.text);
      return;
    case OtlpValue::Kind::boolean:
      out.append(value.boolean ? "true" : "false");
      return;
    case OtlpValue::Kind::integer:
      append_number(out, value.integer);
      return;
    case OtlpValue::Kind::real:
      append_number(out, value.real);
      return;
    case OtlpValue::Kind::list:
      out.append(value.text);
      return;
  }
}

void OtlpAttributes::add(std::string key, OtlpValue value) {
  if (pairs_.size() >= kMaxOtlpAttributes || key.empty() || find(key) != nullptr) return;
  pairs_.emplace_back(std::move(key), std::move(value));
}

const OtlpValue* OtlpAttributes::find(std::string_view key) const {
  for (const auto& [name, value] : pairs_) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string_view OtlpAttributes::text(std::string_view key) const {
  const OtlpValue* value = find(key);
  return value != nullptr && value->kind == OtlpValue::Kind::text ? std::string_view(value->text) : std::string_view();
}

std::optional<double> OtlpAttributes::number(std::string_view key) const {
  const OtlpValue* value = find(key);
  if (value == nullptr) return {};
  if (value->kind == OtlpValue::Kind::integer) return static_cast<double>(value->integer);
  if (value->kind == OtlpValue::Kind::real && std::isfinite(value->real)) return value->real;
  if (value->kind == OtlpValue::Kind::text) return parsed_number(value->text);
  return {};
}

std::optional<std::uint64_t> OtlpAttributes::count(std::string_view key) const {
  auto value = number(key);
  if (!value || *value < 0 || *value > 9'007'199'254'740'991.0 || *value != std::floor(*value)) return {};
  return static_cast<std::uint64_t>(*value);
}

std::optional<bool> OtlpAttributes::truth(std::string_view key) const {
  const OtlpValue* value = find(key);
  if (value == nullptr) return {};
  if (value->kind == OtlpValue::Kind::boolean) return value->boolean;
  if (value->kind == OtlpValue::Kind::text && value->text == "true") return true;
  if (value->kind == OtlpValue::Kind::text && value->text == "false") return false;
  return {};
}

std::string OtlpAttributes::json() const {
  std::string out = "{";
  for (const auto& [key, value] : pairs_) {
    if (out.size() > 1) out.push_back(',');
    append_json_string(out, key);
    out.push_back(':');
    append_otlp_value(out, value);
  }
  out.push_back('}');
  return out;
}

}  // namespace shepherd
