// Connecting out: names, addresses, TLS; blocking, with a deadline that holds. Threads: caller.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/client.h"

namespace shepherd::net {

using Deadline = std::chrono::steady_clock::time_point;
using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using TlsStream = boost::asio::ssl::stream<TcpSocket>;

// Another thread sets it to cancel, and then wakes the loop; nullptr: never. A wait that is under way then ends as at
// its deadline.
using Cancelled = const std::atomic<bool>*;

// Runs the loop until `done` is set by a completion, or the deadline passes. False: it passed, and the operation is
// still under way.
bool run_until(boost::asio::io_context& io, const bool& done, Deadline deadline, Cancelled cancelled = nullptr);

// Tries every address of the host in turn.
// Errors: unavailable/unreachable, unavailable/timed_out; permission_denied/refused_address when `allowed` refuses one
// of them: a name that stands for a forbidden address among others is not to be trusted.
Result<TcpSocket> dial(boost::asio::io_context& io, const Url& url, Deadline deadline,
                       const std::function<bool(std::string_view)>& allowed = {}, Cancelled cancelled = nullptr);

// Errors: invalid_argument/bad_certificate when the CA file cannot be read.
Result<boost::asio::ssl::context> make_client_context(const ClientTls& tls);

// Sends the host's name and, unless `insecure`, checks the certificate against it.
// Errors: as dial(), and unavailable/bad_certificate.
Result<void> handshake(boost::asio::io_context& io, TlsStream& stream, const Url& url, bool insecure, Deadline deadline,
                       Cancelled cancelled = nullptr);

std::string host_header(const Url& url);
std::unexpected<Error> timed_out(const Url& url);
std::unexpected<Error> unreachable(const Url& url, const std::string& why);

}  // namespace shepherd::net
