// Reads HTTP/1.x requests from a byte stream, without I/O.
//
// Our own parser, because the rules that keep two parsers from disagreeing about the end of a request (request
// smuggling) must be strict: no folded headers, repeated lengths or unknown transfer codings, and a bound for the whole
// head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace shepherd::net {

// Reads one request after the other. Keeps bytes only while a head or a chunk's line is incomplete. After `refused` the
// reader must not be used again, because the start of the next request is unknown.
// Threads: caller.
class RequestReader {
 public:
  enum class Outcome { need_more, complete, refused };
  struct Refusal {
    int status = 0;
    std::string_view reason;
    std::string message;
    std::optional<Response> response;  // the handler's own response, instead of an error made from the above
  };
  enum class Stage : std::uint8_t { idle, head, body };

  // The handler decides about admission once per request, when the head is complete.
  explicit RequestReader(HttpHandler& handler) : handler_(handler) {}

  // Consumes the front of `input` until a request is complete (the rest belongs to the next one) or the input is used
  // up.
  Outcome read(std::string_view& input);

  // After `complete`. start_next() must follow before the next read().
  Request& request() { return request_; }
  void start_next();

  // After `refused`. The head may be incomplete; request() has its known part.
  Refusal& refusal() { return refusal_; }

  Stage stage() const;
  bool keep_alive() const { return keep_alive_; }  // as the client requested
  bool http10() const { return http10_; }
  const std::string& caller() const { return caller_; }  // as the handler set it at admission
  // True once per request: the client waits for "100 Continue" before it sends the body.
  bool take_continue();

 private:
  enum class Part : std::uint8_t { head, sized_body, chunk_size, chunk_data, chunk_end, trailers, done };
  struct HeadFacts {
    std::optional<std::uint64_t> content_length;
    int hosts = 0;
    bool chunked = false;
    bool expects_continue = false;
    bool connection_close = false;
    bool connection_keep_alive = false;
  };

  Outcome read_head(std::string_view& input);
  Outcome parse_head(std::string_view head);
  bool parse_request_line(std::string_view line);
  bool parse_field(std::string_view line, HeadFacts& facts);
  bool note_field(std::string_view name, std::string_view value, HeadFacts& facts);
  bool check_head(const HeadFacts& facts);
  Outcome admit(const HeadFacts& facts);
  bool read_body(std::string_view& input);  // false if refused
  void take_data(std::string_view& input, Part next);
  bool take_chunk_size(std::string_view line);
  // A whole line without its CRLF; nullopt if incomplete or refused.
  std::optional<std::string> take_line(std::string_view& input, std::size_t max_bytes);
  bool refuse(int status, std::string_view reason, std::string message);

  HttpHandler& handler_;
  Request request_;
  Refusal refusal_;
  std::string held_;        // an incomplete head, chunk line or trailer
  std::uint64_t left_ = 0;  // bytes left of the body or the chunk
  std::size_t max_body_bytes_ = 0;
  std::string caller_;
  std::size_t trailer_bytes_ = 0;
  Part part_ = Part::head;
  bool keep_alive_ = true;
  bool http10_ = false;
  bool wants_continue_ = false;
};

}  // namespace shepherd::net
