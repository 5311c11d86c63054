// What the binary carries with it: the page and the description of the API.
#include <string_view>
#include <utility>

#include "api/assets.h"
#include "api/handlers.h"

namespace shepherd {
namespace {

void send_asset(Call call, std::string_view content_type, std::string_view body) {
  net::Response response;
  response.content_type = content_type;
  response.body = body;
  call.send_page(std::move(response));
}

}  // namespace

void openapi(Call call) {
  send_asset(std::move(call), "application/json", assets::openapi());
}
void page(Call call) {
  send_asset(std::move(call), "text/html; charset=utf-8", assets::page_html());
}
void page_script(Call call) {
  send_asset(std::move(call), "text/javascript; charset=utf-8", assets::page_js());
}
void page_style(Call call) {
  send_asset(std::move(call), "text/css; charset=utf-8", assets::page_css());
}

}  // namespace shepherd
