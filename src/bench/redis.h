// Redis streams with an append-only file, synced for every write, are the usual way to store events durably and fast.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/process.h"
#include "bench/target.h"

namespace shepherd::bench {

// XADD key * e BODY, one in flight per connection.
// Threads: value.
class XaddWire final : public PublishWire {
 public:
  explicit XaddWire(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  void append_request(std::string& out, std::size_t channel, std::string_view body) const override;
  Result<std::size_t> read_answer(std::string_view in) const override;

 private:
  std::vector<std::string> keys_;
};

// Owns the process. It has no subscribers, because only the cost of storing events is compared.
// Threads: caller.
class Redis final : public Target {
 public:
  // `directory` must be empty. not_found/not_installed names the package.
  static Result<Redis> start(const std::filesystem::path& directory, int core);
  Result<LoadPlan> plan(const Shape& shape) override;

 private:
  Redis(Process process, std::uint16_t port) : process_(std::move(process)), at_{.port = port} {}

  Process process_;
  Address at_;
  std::uint64_t made_ = 0;
  std::unique_ptr<XaddWire> wire_;
};

}  // namespace shepherd::bench
