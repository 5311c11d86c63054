#include "api/assets.h"

namespace shepherd::assets {

std::string_view openapi() {
  return
#include "embedded/openapi.json.inc"
      ;
}

std::string_view page_html() {
  return
#include "embedded/page.html.inc"
      ;
}

std::string_view page_css() {
  return
#include "embedded/page.css.inc"
      ;
}

std::string_view page_js() {
  return
#include "embedded/page.js.inc"
      ;
}

}  // namespace shepherd::assets
