// A request body as an object whose members are read one by one; what has the wrong type is an error that names it.
// Threads: value.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/read.h"

namespace shepherd {

// An error about one member that says what is expected of it.
Error bad_member(std::string_view member, std::string_view expected);

// The object a body must be; valid until the next parse on this thread. invalid_argument/bad_json.
Result<simdjson::dom::object> request_object(JsonParser& parser, std::string_view json);

// Reading goes on after an error, and the first one is kept: callers read all they want and ask once.
class JsonRequest {
 public:
  // `path` stands before member names in errors: "task." for the object inside "task".
  // `asked` gets the path of every member that is looked for.
  JsonRequest(simdjson::dom::object object, std::string path, std::optional<Error>& error,
              std::set<std::string>* asked = nullptr)
      : object_(object), path_(std::move(path)), error_(error), asked_(asked) {}

  // Each leaves `into` alone when the member is absent or null.
  void text(std::string_view key, std::string& into);
  void whole(std::string_view key, std::int64_t& into);  // >= 0
  void number(std::string_view key, double& into);       // >= 0
  void texts(std::string_view key, std::vector<std::string>& into);
  std::optional<JsonRequest> object(std::string_view key);
  // The member itself, whatever it is; nullopt when absent or null.
  std::optional<simdjson::dom::element> member(std::string_view key) const;
  void refuse(std::string_view key, std::string_view expected);

  simdjson::dom::object raw() const { return object_; }
  std::string path(std::string_view key) const { return path_ + std::string(key); }

 private:
  simdjson::dom::object object_;
  std::string path_;
  std::optional<Error>& error_;
  std::set<std::string>* asked_;
};

}  // namespace shepherd
