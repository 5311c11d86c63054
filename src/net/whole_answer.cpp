#include "net/whole_answer.h"

namespace shepherd::net {

void WholeAnswer::on_head(ResponseHead&& head) {
  response_.status = head.status;
  response_.headers = std::move(head.headers);
}

void WholeAnswer::on_body(std::string_view piece) {
  if (!done_) return;
  if (piece.size() <= max_bytes_ - response_.body.size()) {
    response_.body.append(piece);
  } else if (status_only_) {
    finish(std::move(response_));
  } else {
    finish(fail(ErrorCode::internal, "bad_response",
                "the answer is larger than " + std::to_string(max_bytes_) + " bytes"));
  }
}

void WholeAnswer::on_end(Result<void> end) {
  if (!done_) return;
  if (!end) return finish(fail(std::move(end.error())));
  finish(std::move(response_));
}

void WholeAnswer::finish(Result<ClientResponse> result) {
  std::exchange(done_, nullptr)(std::move(result));
}

}  // namespace shepherd::net
