// Feeds any bytes, cut anywhere, to the HTTP parser. It must not crash, must keep every bound, and must read the same
// requests from the same bytes regardless of the cuts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "net/limits.h"
#include "net/request_reader.h"

namespace {

using namespace shepherd;
using namespace shepherd::net;

constexpr std::size_t kMaxBody = 4'096;

// Accepts or refuses depending on the head, so that refusals come from every place.
class FuzzHandler final : public HttpHandler {
 public:
  Admission admit(const Request& head) override {
    SHEPHERD_ASSERT(head.target.starts_with('/'), "only the origin form is admitted");
    SHEPHERD_ASSERT(head.headers.size() <= kMaxHeaders, "the number of headers is bounded");
    SHEPHERD_ASSERT(head.body.empty(), "admission comes before the body");
    if (head.target.starts_with("/no")) return {0, Response{401, "text/plain", {}, "no", false}};
    return {head.target.starts_with("/0") ? 0 : kMaxBody, {}};
  }
  void handle(Request&&, Responder) override {}
  Response protocol_error(int status, std::string_view, std::string_view) override {
    return {status, "text/plain", {}, "", false};
  }
};

// One line per request, and how the input ended.
std::string read(std::string_view bytes, const std::vector<std::uint8_t>& cuts) {
  FuzzHandler handler;
  RequestReader reader(handler);
  std::string seen;
  for (std::size_t turn = 0; !bytes.empty(); ++turn) {
    std::size_t size = cuts.empty() ? bytes.size() : 1 + cuts[turn % cuts.size()];
    std::string piece(bytes.substr(0, size));
    bytes.remove_prefix(piece.size());
    std::string_view input = piece;
    while (!input.empty()) {
      auto outcome = reader.read(input);
      reader.take_continue();
      if (outcome == RequestReader::Outcome::refused) {
        return seen + "refused " + std::to_string(reader.refusal().status);
      }
      if (outcome == RequestReader::Outcome::need_more) continue;
      const Request& request = reader.request();
      SHEPHERD_ASSERT(request.body.size() <= kMaxBody, "the body is bounded");
      seen += request.method + ' ' + request.target + ' ' + request.body + '\n';
      for (const auto& [name, value] : request.headers) seen += name + ':' + value + '\n';
      reader.start_next();
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first bytes choose the cuts.
  std::size_t cut_count = std::min<std::size_t>(data[0] % 8, size - 1);
  std::vector<std::uint8_t> cuts(data + 1, data + 1 + cut_count);
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1 + cut_count, size - 1 - cut_count);
  SHEPHERD_ASSERT(read(bytes, cuts) == read(bytes, {}), "a request does not depend on how its bytes were cut");
  return 0;
}
