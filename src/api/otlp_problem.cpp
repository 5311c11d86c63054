#include "api/otlp_problem.h"

#include "api/header_text.h"
#include "api/problem.h"
#include "otlp/answer.h"

namespace shepherd {

OtlpEncoding otlp_encoding(const net::Request& request) {
  bool protobuf = is_media_type(request.header("content-type"), "application/x-protobuf");
  return protobuf ? OtlpEncoding::protobuf : OtlpEncoding::json;
}

net::Response otlp_problem(const Error& error, int status, const net::Request& request) {
  net::Response response = problem(error, error.code == ErrorCode::storage_full ? 503 : status);
  OtlpEncoding encoding = otlp_encoding(request);
  response.content_type = otlp_media_type(encoding);
  response.body = encode_otlp_error(encoding, error);
  return response;
}

}  // namespace shepherd
