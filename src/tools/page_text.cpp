#include "tools/page_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "net/text.h"
#include "tools/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

std::string lower_text(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = net::to_lower(c);
  return lower;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

void append_code_point(std::string& out, std::uint32_t code) {
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
  auto byte = [&](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6U);
    byte(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12U);
    byte(0x80 | (code >> 6U & 0x3FU));
    byte(0x80 | (code & 0x3FU));
  } else {
    byte(0xF0 | code >> 18U);
    byte(0x80 | (code >> 12U & 0x3FU));
    byte(0x80 | (code >> 6U & 0x3FU));
    byte(0x80 | (code & 0x3FU));
  }
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kEntities{{
    {"amp", "&"},    {"lt", "<"},    {"gt", ">"},    {"quot", "\""}, {"apos", "'"},   {"nbsp", " "},
    {"ndash", "–"},  {"mdash", "—"}, {"lsquo", "‘"}, {"rsquo", "’"}, {"ldquo", "“"},  {"rdquo", "”"},
    {"hellip", "…"}, {"copy", "©"},  {"reg", "®"},   {"trade", "™"}, {"middot", "·"}, {"bull", "•"},
    {"laquo", "«"},  {"raquo", "»"}, {"times", "×"}, {"euro", "€"},
}};

// Appends the character that the text behind `&` names, and returns its length; 0 if it names none.
std::size_t append_entity(std::string& out, std::string_view text) {
  std::size_t end = text.substr(0, kMaxEntityBytes).find(';');
  if (end == std::string_view::npos || end == 0) return 0;
  std::string_view name = text.substr(0, end);
  if (name.front() != '#') {
    for (const auto& [known, shown] : kEntities) {
      if (known == name) {
        out += shown;
        return end + 1;
      }
    }
    return 0;
  }
  bool hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
  std::uint32_t code = 0;
  std::string_view digits = name.substr(hex ? 2 : 1);
  if (digits.empty()) return 0;
  for (char c : digits) {
    c = net::to_lower(c);
    std::uint32_t value = c >= '0' && c <= '9'          ? static_cast<std::uint32_t>(c - '0')
                          : hex && c >= 'a' && c <= 'f' ? static_cast<std::uint32_t>(c - 'a' + 10)
                                                        : 99;
    if (value == 99) return 0;
    code = std::min<std::uint32_t>(code * (hex ? 16 : 10) + value, 0x110000);
  }
  append_code_point(out, code);
  return end + 1;
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Elements whose content is not text.
constexpr std::array<std::string_view, 8> kSkipped{"script", "style",  "noscript", "template",
                                                   "svg",    "iframe", "object",   "canvas"};
constexpr std::array<std::string_view, 28> kBlocks{
    "address", "article", "aside", "blockquote", "body",  "dd",   "div",  "dl",   "dt", "fieldset",
    "figure",  "footer",  "form",  "header",     "hr",    "html", "main", "nav",  "ol", "option",
    "p",       "section", "table", "tbody",      "thead", "tr",   "ul",   "title"};

struct HtmlTag {
  std::string name;  // in lower case
  bool closes = false;
  std::string_view attributes;
};

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : html_(html) { out_.reserve(html.size() / 4); }

  std::string read() {
    while (at_ < html_.size()) {
      if (html_[at_] == '<' && read_markup()) continue;
      if (html_[at_] == '&') {
        std::string character;
        if (std::size_t length = append_entity(character, html_.substr(at_ + 1)); length > 0) {
          at_ += 1 + length;
          character == " " ? add_space() : add(character);
          continue;
        }
      }
      add_byte(html_[at_++]);
    }
    while (!out_.empty() && is_space(out_.back())) out_.pop_back();
    return std::move(out_);
  }

 private:
  // True if it was a comment or a tag; what is neither is text.
  bool read_markup() {
    std::string_view rest = html_.substr(at_);
    if (rest.starts_with("<!--")) return skip_past("-->");
    if (rest.starts_with("<!") || rest.starts_with("<?")) return skip_past(">");
    std::size_t begin = rest.starts_with("</") ? 2 : 1;
    if (begin >= rest.size() || !is_letter(rest[begin])) return false;
    HtmlTag tag;
    tag.closes = begin == 2;
    std::size_t end = begin;
    while (end < rest.size() && !is_space(rest[end]) && rest[end] != '>' && rest[end] != '/') ++end;
    tag.name = lower_text(rest.substr(begin, std::min<std::size_t>(end - begin, kMaxEntityBytes)));
    std::size_t close = end_of_tag(rest, end);
    tag.attributes = rest.substr(end, close - end);
    at_ += std::min(close + 1, rest.size());
    take(tag);
    return true;
  }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  // A ">" inside a quoted value does not end the tag.
  static std::size_t end_of_tag(std::string_view text, std::size_t at) {
    char quote = 0;
    for (; at < text.size(); ++at) {
      char c = text[at];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '>') {
        return at;
      } else if ((c == '"' || c == '\'') && at > 0 && text[at - 1] == '=') {
        quote = c;
      }
    }
    return text.size();
  }
  bool skip_past(std::string_view mark) {
    std::size_t end = html_.find(mark, at_);
    at_ = end == std::string_view::npos ? html_.size() : end + mark.size();
    return true;
  }
  // Goes to the closing tag of this element, in one pass.
  void skip_element(const std::string& name) {
    while (at_ < html_.size()) {
      std::size_t next = html_.find("</", at_);
      if (next == std::string_view::npos) {
        at_ = html_.size();
        return;
      }
      at_ = next + 2;
      if (!net::equals_ignoring_case(html_.substr(at_, name.size()), name)) continue;
      skip_past(">");
      return;
    }
  }

  void take(const HtmlTag& tag) {
    if (is_one_of(kSkipped, tag.name)) {
      if (!tag.closes && !tag.attributes.ends_with('/')) skip_element(tag.name);
    } else if (tag.name.size() == 2 && tag.name[0] == 'h' && tag.name[1] >= '1' && tag.name[1] <= '6') {
      break_lines(2);
      if (!tag.closes) add(std::string(static_cast<std::size_t>(tag.name[1] - '0'), '#') + " ");
    } else if (tag.name == "br") {
      break_lines(1);
    } else if (tag.name == "li") {
      break_lines(1);
      if (!tag.closes) add("- ");
    } else if (tag.name == "td" || tag.name == "th") {
      if (tag.closes) add(" | ");
    } else if (tag.name == "pre") {
      break_lines(2);
      add(std::string(3, '`'));
      break_lines(1);
      preformatted_ = !tag.closes;
    } else if (tag.name == "a") {
      take_link(tag);
    } else if (is_one_of(kBlocks, tag.name)) {
      break_lines(tag.name == "p" || tag.name == "title" ? 2 : 1);
    }
  }

  void take_link(const HtmlTag& tag) {
    if (!tag.closes) {
      link_ = attribute(tag.attributes, "href");
      bool leads =
          !link_.empty() && link_.front() != '#' && !lower_text(link_.substr(0, 11)).starts_with("javascript:");
      if (!leads) link_.clear();
      if (leads) add("[");
      return;
    }
    if (link_.empty()) return;
    if (out_.ends_with('[')) {
      out_.pop_back();  // it had no text
    } else {
      add("](" + link_ + ")");
    }
    link_.clear();
  }
  static std::string attribute(std::string_view attributes, std::string_view name) {
    for (std::size_t at = 0; at < attributes.size();) {
      std::size_t equals = attributes.find('=', at);
      if (equals == std::string_view::npos) return {};
      std::string_view key = net::trim_blanks(attributes.substr(at, equals - at));
      key = key.substr(key.find_last_of(" \t\r\n") + 1);
      std::size_t begin = equals + 1;
      char quote = begin < attributes.size() ? attributes[begin] : '\0';
      bool quoted = quote == '"' || quote == '\'';
      std::size_t end = quoted ? attributes.find(quote, begin + 1) : attributes.find_first_of(" \t\r\n", begin);
      end = std::min(end, attributes.size());
      begin += quoted ? 1 : 0;
      if (net::equals_ignoring_case(key, name)) return unescaped(attributes.substr(begin, end - std::min(begin, end)));
      at = end + 1;
    }
    return {};
  }
  static std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t length = text[at] == '&' ? append_entity(out, text.substr(at + 1)) : 0;
      if (length == 0) out += text[at];
      at += 1 + length;
    }
    return out;
  }

  void add_byte(char c) {
    if (!preformatted_ && is_space(c)) {
      add_space();
    } else {
      out_ += c;
    }
  }
  void add_space() {
    if (preformatted_ || (!out_.empty() && !is_space(out_.back()))) out_ += ' ';
  }
  void add(std::string_view text) { out_ += text; }
  void break_lines(std::size_t count) {
    while (!preformatted_ && !out_.empty() && out_.back() == ' ') out_.pop_back();
    std::size_t have = 0;
    while (have < count && have < out_.size() && out_[out_.size() - 1 - have] == '\n') ++have;
    if (!out_.empty()) out_.append(count - have, '\n');
  }

  std::string_view html_;
  std::size_t at_ = 0;
  std::string out_;
  std::string link_;  // of the open <a>; or empty
  bool preformatted_ = false;
};

// "text/html" of "Text/HTML; charset=utf-8".
std::string media_type(std::string_view content_type) {
  return lower_text(net::trim_blanks(content_type.substr(0, content_type.find(';'))));
}

std::string charset_of(std::string_view content_type) {
  std::string lower = lower_text(content_type);
  std::size_t at = lower.find("charset=");
  if (at == std::string::npos) return {};
  std::string value = lower.substr(at + 8);
  value.resize(std::min(value.find(';'), value.size()));
  std::erase(value, '"');
  return std::string(net::trim_blanks(value));
}

}  // namespace

std::string html_text(std::string_view html) {
  return HtmlReader(html).read();
}

bool is_text_type(std::string_view content_type, std::string_view body) {
  if (body.find('\0') != std::string_view::npos) return false;
  std::string type = media_type(content_type);
  if (type.empty()) return true;
  constexpr std::array<std::string_view, 10> kTextTypes{
      "application/json",   "application/xml",  "application/javascript", "application/ecmascript", "application/yaml",
      "application/x-yaml", "application/toml", "application/x-ndjson",   "application/graphql",    "application/sql"};
  return type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml") || type.ends_with("+yaml") ||
         is_one_of(kTextTypes, type);
}

bool is_html_type(std::string_view content_type, std::string_view body) {
  std::string type = media_type(content_type);
  if (!type.empty()) return type == "text/html" || type == "application/xhtml+xml";
  std::string begin = lower_text(body.substr(0, std::min<std::size_t>(body.size(), 256)));
  return begin.find("<!doctype html") != std::string::npos || begin.find("<html") != std::string::npos;
}

std::string decoded_body(std::string_view content_type, std::string_view body) {
  if (body.starts_with("\xEF\xBB\xBF")) body.remove_prefix(3);
  std::string charset = charset_of(content_type);
  if (charset != "iso-8859-1" && charset != "latin1" && charset != "windows-1252") return valid_text(body);
  std::string text;
  for (char c : body) append_code_point(text, static_cast<unsigned char>(c));
  return text;
}

}  // namespace shepherd
