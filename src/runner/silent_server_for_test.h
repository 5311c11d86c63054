// A server that accepts connections and never answers.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.h"

namespace shepherd {

// Threads: caller.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* name = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), name, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 1), 0);
    EXPECT_EQ(::getsockname(socket_.get(), name, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  const std::string& url() const { return url_; }
  // Waits for a question; its connection.
  Descriptor asked() {
    Descriptor connection(::accept(socket_.get(), nullptr, nullptr));
    char byte = 0;
    EXPECT_EQ(::read(connection.get(), &byte, 1), 1) << "the question is on its way";
    return connection;
  }

 private:
  Descriptor socket_;
  std::string url_;
};

}  // namespace shepherd
