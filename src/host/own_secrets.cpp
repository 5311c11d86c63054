#include "host/own_secrets.h"

#include <sys/prctl.h>

#include <cstdlib>
#include <cstring>  // explicit_bzero
#include <map>
#include <memory>
#include <string>

namespace shepherd {

Environment keep_secrets() {
  ::prctl(PR_SET_DUMPABLE, 0);
  auto taken = std::make_shared<std::map<std::string, std::string>>();
  for (const char* name : {"SHEPHERD_TOKEN", "SHEPHERD_ADMIN_TOKEN"}) {
    char* value = std::getenv(name);
    if (value == nullptr) continue;
    taken->emplace(name, value);
    explicit_bzero(value, ::strlen(value));  // /proc shows exactly these bytes
    ::unsetenv(name);
  }
  return [taken = std::move(taken), rest = process_environment()](const char* name) {
    auto found = taken->find(name);
    return found == taken->end() ? rest(name) : found->second;
  };
}

}  // namespace shepherd
