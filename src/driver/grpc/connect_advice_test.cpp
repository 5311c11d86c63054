// The words are those of gRPC 1.51 with OpenSSL 3, as a refused connection shows them.
#include "driver/grpc/connect_advice.h"

#include <gtest/gtest.h>

#include <string>

namespace shepherd {
namespace {

constexpr std::string_view kClosed =
    "failed to connect to all addresses; last error: UNAVAILABLE: ipv4:127.0.0.1:47311: Socket closed";

bool advises(std::string_view why, bool tls, bool certificate, std::string_view words) {
  return connect_advice(why, tls, certificate).text.find(words) != std::string_view::npos;
}

TEST(ConnectAdvice, WhoClosesTheConnectionWantsWhatWeDidNotGive) {
  EXPECT_TRUE(advises(kClosed, false, false, "does it want TLS"));
  EXPECT_TRUE(advises(kClosed, true, false, "--cert-file and --key-file"));
  EXPECT_TRUE(advises(kClosed, true, true, "does not accept our client certificate"));
  EXPECT_FALSE(connect_advice(kClosed, true, false).is_final) << "a proxy closes, too, while its agent starts";
}

TEST(ConnectAdvice, WhatGrpcFoundWrongCannotMendItself) {
  struct Case {
    std::string_view why, words;
  };
  for (const Case& each :
       {Case{"Ssl handshake failed: SSL_ERROR_SSL: error:0A000086:SSL routines::certificate verify failed",
             "--ca-file"},
        Case{"Hostname Verification Check failed.: Peer name another.test is not in peer certificate", "--server-name"},
        Case{"Ssl handshake failed: SSL_ERROR_SSL: error:0A00010B:SSL routines::wrong version number",
             "does not speak TLS"}}) {
    EXPECT_TRUE(advises(each.why, true, true, each.words)) << each.why;
    EXPECT_TRUE(connect_advice(each.why, true, true).is_final) << each.why;
  }
}

TEST(ConnectAdvice, NothingIsAddedWhereNobodyListens) {
  ConnectAdvice none = connect_advice("last error: UNKNOWN: Failed to connect: Connection refused", true, false);
  EXPECT_TRUE(none.text.empty());
  EXPECT_FALSE(none.is_final) << "it may be just starting";
}

}  // namespace
}  // namespace shepherd
