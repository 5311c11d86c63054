#include "redact/exact_secrets.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "json/write.h"
#include "redact/limits.h"
#include "redact/text_class.h"

namespace shepherd {
namespace {

std::string url_encoded(std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (char c : value) {
    if (is_in(c, kAlnum | kUnderscore | kDash | kDotTilde)) {
      out.push_back(c);
    } else {
      auto byte = static_cast<unsigned char>(c);
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

// The base64 characters that depend on the value alone when `before` bytes stand before it in its group of three.
std::string base64_core(std::string_view value, std::size_t before) {
  std::string padded(before, '\0');
  padded.append(value);
  std::string encoded = encode_base64(padded);
  std::size_t whole = padded.size() * 8 / 6;
  std::size_t skip = (before * 8 + 5) / 6;
  return encoded.substr(skip, whole - skip);
}

std::string url_alphabet(std::string text) {
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

}  // namespace

std::vector<std::string> secret_forms(std::string_view value) {
  std::vector<std::string> forms;
  if (value.size() < kMinSecretBytes) return forms;
  std::string quoted;
  append_json_string(quoted, value);
  forms.emplace_back(value);
  forms.push_back(quoted.substr(1, quoted.size() - 2));
  forms.push_back(url_encoded(value));
  for (std::size_t before = 0; before < 3; ++before) {
    std::string core = base64_core(value, before);
    forms.push_back(url_alphabet(core));
    forms.push_back(std::move(core));
  }
  std::erase_if(forms, [](const std::string& form) { return form.size() < kMinSecretBytes; });
  std::sort(forms.begin(), forms.end(),
            [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() > b.size() : a < b; });
  forms.erase(std::unique(forms.begin(), forms.end()), forms.end());
  return forms;
}

std::string_view unescaped_part(std::string_view literal) {
  std::string_view longest;
  for (std::size_t at = 0; at < literal.size();) {
    std::size_t end = at;
    while (end < literal.size() && literal[end] > ' ' && literal[end] < '\x7f' && literal[end] != '"' &&
           literal[end] != '\\' && literal[end] != '/') {
      ++end;
    }
    if (end - at > longest.size()) longest = literal.substr(at, end - at);
    at = end + 1;
  }
  return longest;
}

}  // namespace shepherd
