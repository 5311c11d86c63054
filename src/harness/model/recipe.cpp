#include "harness/model/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

namespace shepherd::harness {
namespace json = boost::json;
namespace {

constexpr const char* kKey = "sk-test";

// Where an agent finds its home and the scripted model.
struct Place {
  const std::string& home;
  const std::string& url;
};

Recipe claude(const Place& place) {
  return {.environment = {"ANTHROPIC_BASE_URL=" + place.url, fmt::format("ANTHROPIC_API_KEY={}", kKey),
                          "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
                          "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1"},
          .files = {}};
}

Recipe codex(const Place& place) {
  return {.environment = {},
          .files = {{".codex/config.toml", fmt::format("model = \"gpt-5.5\"\n"
                                                       "model_provider = \"scripted\"\n"
                                                       "check_for_update_on_startup = false\n"
                                                       "[analytics]\nenabled = false\n"
                                                       "[otel]\nexporter = \"none\"\n"
                                                       "[model_providers.scripted]\n"
                                                       "name = \"scripted\"\n"
                                                       "base_url = \"{}/v1\"\n"
                                                       "wire_api = \"responses\"\n"
                                                       "experimental_bearer_token = \"{}\"\n"
                                                       "request_max_retries = 1\n"
                                                       "stream_max_retries = 1\n",
                                                       place.url, kKey)}}};
}

Recipe gemini(const Place& place) {
  json::object settings{{"security", {{"auth", {{"selectedType", "gemini-api-key"}}}}},
                        {"privacy", {{"usageStatisticsEnabled", false}}}};
  return {.environment = {"GOOGLE_GEMINI_BASE_URL=" + place.url, fmt::format("GEMINI_API_KEY={}", kKey),
                          "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true"},
          .files = {{".gemini/settings.json", json::serialize(settings)}}};
}

Recipe goose(const Place& place) {
  return {.environment = {"GOOSE_PROVIDER=openai", "OPENAI_HOST=" + place.url, fmt::format("OPENAI_API_KEY={}", kKey),
                          "GOOSE_MODEL=scripted", "GOOSE_MODE=approve", "GOOSE_DISABLE_KEYRING=1"},
          .files = {}};
}

Recipe opencode(const Place& place) {
  json::object model{{"name", "Scripted"}, {"tool_call", true}, {"limit", {{"context", 100000}, {"output", 8000}}}};
  json::object provider{{"npm", "@ai-sdk/openai-compatible"},
                        {"name", "Scripted"},
                        {"options", {{"baseURL", place.url + "/v1"}, {"apiKey", kKey}}},
                        {"models", {{"scripted", model}}}};
  json::object settings{{"model", "scripted/scripted"},
                        {"small_model", "scripted/scripted"},
                        {"share", "disabled"},
                        {"autoupdate", false},
                        {"permission", {{"edit", "ask"}, {"bash", "ask"}}},
                        {"provider", {{"scripted", provider}}}};
  return {.environment = {fmt::format("OPENCODE_CONFIG={}/opencode.json", place.home), "OPENCODE_DISABLE_AUTOUPDATE=1",
                          "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
                          "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"},
          .files = {{"opencode.json", json::serialize(settings)}}};
}

struct KnownRecipe {
  std::string_view agent;
  Recipe (*make)(const Place&);
};

constexpr KnownRecipe kRecipes[] = {
    {"claude", claude},   {"claude-acp", claude}, {"codex", codex},
    {"codex-acp", codex}, {"gemini", gemini},     {"gemini-stream", gemini},
    {"goose", goose},     {"opencode", opencode}, {"opencode-run", opencode},
};

}  // namespace

std::optional<Recipe> recipe_for(std::string_view agent, const std::string& home, const std::string& model_url) {
  const auto* found = std::ranges::find(kRecipes, agent, &KnownRecipe::agent);
  if (found == std::end(kRecipes)) return {};
  Recipe recipe = found->make({home, model_url});
  recipe.environment.push_back("HOME=" + home);
  return recipe;
}

std::vector<std::string_view> agents_with_recipe() {
  std::vector<std::string_view> names;
  for (const KnownRecipe& recipe : kRecipes) names.push_back(recipe.agent);
  return names;
}

}  // namespace shepherd::harness
