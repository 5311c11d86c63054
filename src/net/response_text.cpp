#include "net/response_text.h"

#include <array>
#include <charconv>
#include <ctime>

#include "net/text.h"

namespace shepherd::net {

namespace {

void append_number(std::string& out, std::size_t number) {
  std::array<char, 20> digits;
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  std::size_t start = out.size();
  out += value;
  for (std::size_t i = start; i < out.size(); ++i) {
    if (!is_field_char(out[i])) out[i] = ' ';
  }
  out += "\r\n";
}

}  // namespace

std::string_view DateText::at(std::int64_t wall_ms) {
  std::int64_t second = wall_ms / 1000;
  if (second != second_) {
    static constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::time_t time = second;
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::array<char, 64> text{};  // not strftime, whose names follow the locale
    int size = std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                             kDays[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                             kMonths[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900, parts.tm_hour,
                             parts.tm_min, parts.tm_sec);
    text_.assign(text.data(), static_cast<std::size_t>(size));
    second_ = second;
  }
  return text_;
}

bool bodiless(int status) {
  return status == 204 || status == 304 || status < 200;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "Status";
  }
}

void append_head(std::string& out, const Response& response, const HeadOptions& options) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::size_t>(response.status));
  out += ' ';
  out += reason_phrase(response.status);
  out += "\r\nDate: ";
  out += options.date;
  out += "\r\n";
  if (!response.content_type.empty()) append_field(out, "Content-Type", response.content_type);
  if (options.content_length) {
    out += "Content-Length: ";
    append_number(out, *options.content_length);
    out += "\r\n";
  }
  if (!options.connection.empty()) append_field(out, "Connection", options.connection);
  for (const auto& [name, value] : response.headers) append_field(out, name, value);
  out += "\r\n";
}

}  // namespace shepherd::net
