#include "net/event_stream_connection.h"

namespace shepherd::net {

void EventStreamConnection::read_input() {
  switch (discard_input()) {
    case Drained::end:
      return close(CloseCause::peer);
    case Drained::more:
      return read_later();
    case Drained::all:
      return;
  }
}

}  // namespace shepherd::net
