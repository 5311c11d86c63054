// What /v1 answers, in OpenAI's form: chunks of a stream, whole answers, models, errors.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "chat/completions.h"
#include "net/http.h"

namespace shepherd {

// What every chunk of an answer says about it.
struct CompletionShape {
  std::string id;
  std::string model;  // as the client asked for it
  std::int64_t created_s = 0;
  bool include_usage = false;
};

// The frames of a stream. Each appends whole frames ("data: {…}\n\n").
class CompletionChunks {
 public:
  explicit CompletionChunks(CompletionShape shape);

  void role(std::string& out) const;  // the first one
  void text(std::string& out, std::string_view piece) const;
  void reasoning(std::string& out, std::string_view piece) const;
  // Tool calls, the finish, the usage if it was asked for, and the end mark.
  void end(std::string& out, const CompletionEnd& end) const;
  void error(std::string& out, const Error& error) const;

 private:
  template <class Fill>
  void chunk(std::string& out, std::string_view finish, Fill&& fill_delta) const;

  const CompletionShape shape_;
  std::string head_;  // of each chunk: `data: {"id":…,"model":…,`
};

inline constexpr std::string_view kCompletionComment = ": working\n\n";

std::string completion_json(const CompletionShape& shape, const CompletionEnd& end);
std::string completion_model_json(const CompletionModel& model, std::int64_t created_s);
std::string completion_models_json(const std::vector<CompletionModel>& models, std::int64_t created_s);

// The status with which an error is answered. A backend that does not accept the server's own key, or fails, is no
// fault of the client: 502.
int completion_status(const Error& error);
// `{"error":{"message":…,"type":…,"param":…,"code":…}}`.
std::string completion_error_json(const Error& error, int status);
net::Response completion_problem(const Error& error, int status);

}  // namespace shepherd
