#include "llm/model_key.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/whole_file.h"
#include "llm/limits.h"
#include "net/text.h"
#include "process/program_output.h"

namespace shepherd {
namespace {

Error key_missing(const std::string& owner, const std::string& why) {
  return {ErrorCode::permission_denied, "model_key", fmt::format("the key of {} is missing: {}", owner, why), {}};
}

// A key goes into a header, so it is one line of ASCII.
Result<std::string> checked_key(std::string_view text, const std::string& owner, const std::string& source) {
  std::string key(net::trim_blanks(text.substr(0, text.find_first_of("\r\n"))));
  if (key.empty()) return fail(key_missing(owner, source + " is empty"));
  for (char c : key) {
    if (c <= 0x20 || c >= 0x7F)
      return fail(key_missing(owner, source + " has more than plain ASCII in its first line"));
  }
  if (key.size() > kMaxModelKeyBytes) return fail(key_missing(owner, source + " is too long"));
  return key;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("SHEPHERD_")) variables.emplace_back(*entry);
  }
  return variables;
}

Result<std::string> read_model_key(const KeyPlace& source, const std::string& warden_program, const Clock& clock,
                                   ProgramStop& stop) {
  if (!source.file.empty()) {
    auto text = read_whole_file(source.file, kMaxModelKeyBytes);
    if (!text) return fail(key_missing(source.owner, text.error().message));
    if (!*text) return fail(key_missing(source.owner, source.file + " does not exist"));
    return checked_key(**text, source.owner, source.file);
  }
  AgentSpec spec;
  spec.command = {"/bin/sh", "-c", source.command};
  spec.environment = own_environment();
  spec.directory = "/";
  spec.with_stdin = false;
  spec.warden_program = warden_program;
  auto ran = run_program(spec, kKeyCommandWait, clock, &stop);
  if (!ran) return fail(key_missing(source.owner, "key_command: " + ran.error().message));
  // Its error output is not shown, since a program may print what it was given.
  if (!ran->good()) return fail(key_missing(source.owner, fmt::format("key_command ended with {}", ran->exit.code)));
  return checked_key(ran->out, source.owner, "the output of key_command");
}

}  // namespace

ModelKey::ModelKey(const ModelConfig& config, net::EventLoop& loop, const Clock& clock, std::string warden_program)
    : ModelKey({fmt::format("model \"{}\"", config.name), config.key_file, config.key_command, config.key_env}, loop,
               clock, std::move(warden_program)) {}

ModelKey::ModelKey(KeyPlace place, net::EventLoop& loop, const Clock& clock, std::string warden_program)
    : place_(std::move(place)),
      warden_program_(std::move(warden_program)),
      loop_(loop),
      clock_(clock),
      self_(std::make_shared<ModelKey*>(this)) {}

ModelKey::~ModelKey() {
  self_.reset();
  stop_.stop();
  if (thread_.joinable()) thread_.join();
}

void ModelKey::get(Done done) {
  if (valid_ || !configured()) return done(known_);
  if (!place_.variable.empty()) {
    const char* value = std::getenv(place_.variable.c_str());
    auto key = checked_key(value == nullptr ? "" : value, place_.owner, "the variable " + place_.variable);
    if (key) {
      known_ = *key;
      valid_ = true;
    }
    return done(std::move(key));
  }
  waiting_.push_back(std::move(done));
  if (!reading_) begin_reading();
}

void ModelKey::begin_reading() {
  reading_ = true;
  if (thread_.joinable()) thread_.join();  // it has posted its last word
  thread_ = std::thread([this, self = std::weak_ptr<ModelKey*>(self_)] {
    auto key = read_model_key(place_, warden_program_, clock_, stop_);
    loop_.post([self, key = std::move(key)]() mutable {
      if (auto alive = self.lock()) (*alive)->take(std::move(key));
    });
  });
}

void ModelKey::take(Result<std::string> read) {
  reading_ = false;
  if (read) {
    known_ = *read;
    valid_ = true;
  }
  for (Done& done : std::exchange(waiting_, {})) done(read);
}

void ModelKey::forget() {
  valid_ = false;
}

}  // namespace shepherd
