// The files embedded in the binary: the page and the description of the API.
#include <string>
#include <string_view>
#include <utility>

#include "api/assets.h"
#include "api/handlers.h"
#include "api/login_page.h"
#include "api/page_files.h"

namespace shepherd {
namespace {

// A file whose name contains a hash never changes, so `cache` may be long. "index.html" is revalidated each time by its
// tag.
void send_file(Call call, const PageFile& file, std::string_view cache) {
  net::Response response;
  response.headers.emplace_back("Cache-Control", cache);
  response.headers.emplace_back("ETag", file.etag);
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (call.request().header("if-none-match") == file.etag) {
    response.status = 304;
    return call.send_page(std::move(response));
  }
  EncodedFile encoded = encoded_for(file, call.request().header("accept-encoding"));
  response.content_type = file.content_type;
  response.body = encoded.bytes;
  if (!encoded.encoding.empty()) response.headers.emplace_back("Content-Encoding", encoded.encoding);
  call.send_page(std::move(response));
}

}  // namespace

void openapi(Call call) {
  net::Response response;
  response.content_type = "application/json";
  response.body = assets::openapi();
  response.headers.emplace_back("Cache-Control", "no-cache");
  call.send_page(std::move(response));
}

void page(Call call) {
  if (std::string place = page_elsewhere(call); !place.empty()) {
    net::Response response;
    response.status = 302;
    response.headers.emplace_back("Location", place + call.request().target);
    return call.send_page(std::move(response));
  }
  send_file(std::move(call), *page_file("index.html"), "no-cache");
}

void page_asset(Call call) {
  const PageFile* file = page_file(call.id());
  if (file == nullptr) {
    return call.fail({ErrorCode::not_found, "unknown_asset", "The page has no such file; load it again.", {}});
  }
  send_file(std::move(call), *file, "public, max-age=31536000, immutable");
}

}  // namespace shepherd
