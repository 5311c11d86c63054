// Errors of the OTLP routes: google.rpc.Status in the encoding of the request, as its exporters expect.
// Threads: value.
#pragma once

#include "base/error.h"
#include "net/http.h"
#include "otlp/request.h"

namespace shepherd {

// By its Content-Type; JSON when it says nothing.
OtlpEncoding otlp_encoding(const net::Request& request);

// Exporters repeat a request only after 429, 502, 503 and 504; a full disk is therefore 503.
net::Response otlp_problem(const Error& error, int status, const net::Request& request);

}  // namespace shepherd
