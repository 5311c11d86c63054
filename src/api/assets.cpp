#include "api/assets.h"

namespace shepherd::assets {

std::string_view openapi() {
  return
#include "embedded/openapi.json.inc"
      ;
}

}  // namespace shepherd::assets
