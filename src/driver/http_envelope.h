// Requests to an agent that is an HTTP service, and what comes back, as lines of JSON: a driver writes requests and
// reads records, and never sees a connection.
//
//   request  {"id":"3","method":"POST","path":"/session","body":{…}}
//   records  {"open":true}                                                        the event stream is there
//            {"event":{…}}                                                        one event of it
//            {"answer":{"id":"3","request":"POST /session","status":200,"body":…}}
//            {"answer":{"id":"3","request":"POST /session","error":"…"}}          it could not be asked
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

struct HttpEnvelope {
  std::string id;      // the driver's own, to know the answer by
  std::string method;  // "POST"
  std::string path;    // "/session"
  std::string body;    // compact JSON; empty: none
};

std::string http_request_line(const HttpEnvelope& request);  // with its newline
std::optional<HttpEnvelope> read_http_request(std::string_view line);

std::string http_open_record();
// `data` of the event; what is no JSON goes as a text.
std::string http_event_record(std::string_view data);
std::string http_answer_record(const HttpEnvelope& request, int status, std::string_view body);
std::string http_failure_record(const HttpEnvelope& request, std::string_view error);

}  // namespace shepherd
