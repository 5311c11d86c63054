// Reads one HTTP/1.x response from a byte stream, without I/O. As strict as RequestReader: what two programs could read
// differently is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/call_options.h"

namespace shepherd::net {

struct ResponseHead {
  int status = 0;
  HeaderList headers;                                          // names in lower case, in order
  std::string_view header(std::string_view lower_name) const;  // first value; empty if absent
};

// Gives its findings one at a time, so that its user can stop between any two. Interim responses (1xx) are read and
// dropped. The bytes of the body are not kept. After `end` or `refused` the reader must not be used again.
// Threads: caller.
class ResponseReader {
 public:
  enum class Request : std::uint8_t {
    usual,
    head,     // the answer has no body
    connect,  // a successful answer has no body: what follows belongs to the tunnel
    upgrade,  // 101 ends the answer: what follows belongs to the new protocol
  };
  enum class Event : std::uint8_t { need_more, head, body, end, refused };

  explicit ResponseReader(Request request) : request_(request) {}

  // Consumes the front of `input` up to the next event. `body`: piece() is part of the input.
  Event read(std::string_view& input);
  // The peer has ended the stream: `end` if that ends the body, otherwise `refused`.
  Event read_end();

  ResponseHead& head() { return head_; }                   // after `head`
  std::string_view piece() const { return piece_; }        // after `body`
  const std::string& refusal() const { return refusal_; }  // after `refused`: what is wrong
  bool started() const { return started_; }                // the first byte has arrived
  bool keep_alive() const { return keep_alive_; }          // after `end`: the peer takes another request

 private:
  enum class Part : std::uint8_t { head, sized_body, endless_body, chunk_size, chunk_data, chunk_end, trailers, done };
  struct HeadFacts {
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    bool connection_close = false;
    bool connection_keep_alive = false;
  };

  Event read_head(std::string_view& input);
  bool parse_head(std::string_view head);
  bool parse_status_line(std::string_view line);
  bool parse_field(std::string_view line, HeadFacts& facts);
  bool check_head(const HeadFacts& facts);
  Event take_data(std::string_view& input, Part next);
  bool read_line(std::string_view& input);  // a line of a chunked body; false if refused
  // A whole line without its CRLF; nullopt if incomplete or refused.
  std::optional<std::string> take_line(std::string_view& input, std::size_t max_bytes);
  bool refuse(std::string why);

  ResponseHead head_;
  std::string refusal_;
  std::string held_;  // an incomplete head, chunk line or trailer
  std::string_view piece_;
  std::uint64_t left_ = 0;  // bytes left of the body or the chunk
  std::size_t trailer_bytes_ = 0;
  int interim_ = 0;
  Request request_;
  Part part_ = Part::head;
  bool started_ = false;
  bool keep_alive_ = false;
  bool http10_ = false;
};

}  // namespace shepherd::net
