#include "host/chat_host.h"

#include <fmt/format.h>
#include <unistd.h>

#include <future>
#include <utility>

#include "base/log.h"
#include "client/find_server.h"
#include "config/agent_confinement.h"
#include "config/config_prices.h"
#include "host/limits.h"
#include "host/mcp_tools.h"
#include "host/opened_models.h"
#include "host/session_search.h"
#include "tools/built_in.h"
#include "tools/command_environment.h"

namespace shepherd {
namespace {

// Runs the work on the loop and waits for it.
void on_loop(net::EventLoop& loop, Work work) {
  std::promise<void> done;
  loop.post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

// Commands are kept from what agents are kept from, and from the models' keys.
std::vector<std::string> environment_of_commands(const Config& config) {
  std::vector<std::string> own;
  for (char** entry = environ; *entry != nullptr; ++entry) own.emplace_back(*entry);
  std::vector<std::string> secret;
  for (const auto& [name, model] : config.models) {
    if (!model.key_env.empty()) secret.push_back(model.key_env);
  }
  return command_environment(own, secret);
}

}  // namespace

Result<std::unique_ptr<Toolbox>> ChatHost::open_tools(const Config& config) {
  SearchMessages search;
  if (parts_.search != nullptr) {
    search = [index = parts_.search, &store = parts_.journal.store()](std::string_view query, std::size_t limit) {
      return find_messages(*index, store, query, limit);
    };
  }
  tool_threads_ = std::make_unique<ThreadPool>("tools", kToolThreads);
  return open_built_in_tools(
      config.chat_tools, {parts_.loop, *tool_threads_, parts_.clock, std::move(search), environment_of_commands(config),
                          agent_confinement(config, process_environment())});
}

Result<std::unique_ptr<ChatHost>> ChatHost::open(ChatHostParts parts, const Config& config) {
  auto opened = open_models(config, {parts.loop, parts.clock, parts.random});
  if (!opened) return fail(opened.error());
  std::unique_ptr<ChatHost> host(new ChatHost(parts));
  host->models_ = std::move(opened->all);
  host->model_ = std::move(opened->chat);
  auto tools = host->open_tools(config);
  if (!tools) return fail(tools.error());
  std::map<std::string, ModelPrice> prices;
  for (const auto& [backend, model] : config.models) prices[backend] = price_of_backend(config, backend);
  auto price = [prices = std::move(prices)](const std::string& backend) {
    auto found = prices.find(backend);
    return found == prices.end() ? ModelPrice() : found->second;
  };
  auto mcp = open_mcp_tools(config, parts.loop, parts.clock, parts.random);
  if (!mcp) return fail(mcp.error());
  host->mcp_ = mcp->get();
  std::vector<std::unique_ptr<Toolbox>> boxes;
  boxes.push_back(*std::move(tools));
  if (*mcp != nullptr) boxes.push_back(*std::move(mcp));
  host->tools_ = join_toolboxes(std::move(boxes));
  LogParts log{parts.journal, parts.loop, parts.clock, parts.redactor, &parts.condense};
  host->chats_ = std::make_unique<Chats>(
      ChatParts{log, parts.reads, parts.random, *host->model_, host->tools_.get(), price}, config.chat);
  CompletionsParts completions{log, parts.random, {}, opened->listed, *host->model_, host->tools_.get(), price};
  for (const auto& each : host->models_) completions.models.push_back(each.get());
  host->completions_ = std::make_unique<Completions>(std::move(completions), config.chat);
  host->probe();
  parts.steering.command_takers().opened(taker_of_agent(std::string(kChatAgent)));
  if (Result<void> started = host->chats_->start(); !started) return fail(started.error());
  if (Result<void> started = host->completions_->start(); !started) return fail(started.error());
  return host;
}

void ChatHost::probe() {
  parts_.loop.post([this] {
    if (model_ == nullptr || probing_ != nullptr || model_->answers()) return;
    probing_ = model_->probe([this](Result<ModelFacts> facts) {
      auto probing = std::move(probing_);
      // A model can be down for days: the log has what changes, not every look.
      if (!facts) {
        if (std::exchange(told_, facts.error().reason) == facts.error().reason) return;
        log_warn("chat: the model {} does not answer: {}. The server asks again every {} s", model_->name(),
                 facts.error().message, kModelProbeInterval.count() / 1'000);
        return;
      }
      told_.clear();
      log_info("chat: {} answers with {} tokens of context", facts->model, facts->context_tokens);
      if (!facts->warning.empty()) log_warn("chat: {}", facts->warning);
    });
  });
}

void ChatHost::tick() {
  chats_->tick();
  if (parts_.clock.steady_ms() < next_probe_ms_) return;
  bool first = next_probe_ms_ == 0;
  next_probe_ms_ = parts_.clock.steady_ms() + kModelProbeInterval.count();
  if (!first) probe();
}

void ChatHost::stop() {
  if (std::exchange(stopped_, true)) return;
  parts_.steering.command_takers().closed(taker_of_agent(std::string(kChatAgent)));
  completions_->stop();
  chats_->stop();
  if (mcp_ != nullptr) end_mcp_tools(*mcp_, parts_.loop);
}

ChatHost::~ChatHost() {
  if (completions_ != nullptr) stop();
  on_loop(parts_.loop, [this] {
    completions_.reset();
    chats_.reset();
    probing_.reset();
    model_.reset();
    models_.clear();
    tools_.reset();
  });
}

}  // namespace shepherd
