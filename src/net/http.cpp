#include "net/http.h"

#include "base/assert.h"
#include "net/responder_target.h"

namespace shepherd::net {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view Request::query() const {
  std::size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view{} : std::string_view(target).substr(mark + 1);
}

std::string_view Request::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_name) return value;
  }
  return {};
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3) return std::nullopt;
      int high = hex_digit(text[i + 1]);
      int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return std::nullopt;
    out.push_back(c);
  }
  return out;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() == query.size() ? pair.size() : pair.size() + 1);
    std::size_t equals = pair.find('=');
    if (percent_decode(pair.substr(0, equals), true) != name) continue;
    return percent_decode(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1), true);
  }
  return std::nullopt;
}

Responder::Responder(std::shared_ptr<Target> target) : target_(std::move(target)) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  Responder dropped(std::exchange(target_, std::move(other.target_)));
  return *this;
}

Responder::~Responder() {
  if (target_) std::exchange(target_, nullptr)->answer(NoAnswer{});
}

void Responder::send(Response response) {
  SHEPHERD_ASSERT(target_, "a request is answered once");
  std::exchange(target_, nullptr)->answer(std::move(response));
}

void Responder::stream(Response head, std::shared_ptr<StreamHandler> handler) {
  SHEPHERD_ASSERT(target_, "a request is answered once");
  std::exchange(target_, nullptr)->answer(StreamAnswer{std::move(head), std::move(handler)});
}

void Responder::upgrade(std::string subprotocol, std::vector<std::pair<std::string, std::string>> headers,
                        std::shared_ptr<StreamHandler> handler) {
  SHEPHERD_ASSERT(target_, "a request is answered once");
  std::exchange(target_, nullptr)
      ->answer(UpgradeAnswer{std::move(subprotocol), std::move(headers), std::move(handler)});
}

std::function<bool()> Responder::peer_watch() const {
  SHEPHERD_ASSERT(target_, "a request is watched before it is answered");
  return [target = target_] { return target->peer_gone(); };
}

Executor& Responder::executor() const {
  return target_->executor();
}

}  // namespace shepherd::net
