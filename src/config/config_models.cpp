#include "config/config_models.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <optional>
#include <vector>

#include "config/config_prices.h"
#include "config/limits.h"
#include "config/nearest_word.h"

namespace shepherd {
namespace {

constexpr std::string_view kHiddenHeader = "(not shown)";

struct WrongModel {
  std::string message;
};

std::string scalar(const YAML::Node& node, std::string_view name) {
  if (!node.IsScalar()) throw WrongModel{fmt::format("\"{}\" must be a single value", name)};
  return node.Scalar();
}

void check_model_names(const YAML::Node& map, const std::vector<std::string>& known, std::string_view where) {
  for (const auto& pair : map) {
    auto name = scalar(pair.first, "a name");
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string near = nearest_word(name, known);
    throw WrongModel{fmt::format("{} has no \"{}\"{}", where, name,
                                 near.empty() ? fmt::format("; it has {}", fmt::join(known, ", "))
                                              : fmt::format("; did you mean \"{}\"?", near))};
  }
}

void read_count(const YAML::Node& node, const char* name, std::int64_t& into) {
  if (!node[name]) return;
  std::string text = scalar(node[name], name);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (error != std::errc() || end != text.data() + text.size() || into < 0) {
    throw WrongModel{fmt::format("\"{}\" is a whole number of at least 0", name)};
  }
}

boost::json::value json_of(const YAML::Node& node) {
  if (node.IsMap()) {
    boost::json::object object;
    for (const auto& pair : node) object[scalar(pair.first, "options")] = json_of(pair.second);
    return object;
  }
  if (node.IsSequence()) {
    boost::json::array array;
    for (const auto& each : node) array.push_back(json_of(each));
    return array;
  }
  if (node.IsNull()) return nullptr;
  const std::string& text = node.Scalar();
  if (node.Tag() != "!") {  // not quoted
    boost::system::error_code error;
    boost::json::value value = boost::json::parse(text, error);
    if (!error) return value;
  }
  return boost::json::string(text);
}

ModelConfig read_model(const std::string& name, const YAML::Node& node) {
  if (!node.IsMap()) throw WrongModel{"a model is names with values: {type: openai, url: \"http://…/v1\"}"};
  check_model_names(node,
                    {"type", "url", "model", "context", "max_output", "key_file", "key_command", "key_env", "headers",
                     "options", "first_token_seconds", "reasoning_back", "images", "ca", "price"},
                    "a model");
  ModelConfig model;
  model.name = name;
  std::string type = node["type"] ? scalar(node["type"], "type") : "openai";
  if (type == "openai") {
    model.dialect = ModelDialect::openai;
  } else if (type == "anthropic") {
    model.dialect = ModelDialect::anthropic;
  } else if (type == "ollama") {
    model.dialect = ModelDialect::ollama;
  } else {
    throw WrongModel{"\"type\" is openai, anthropic or ollama"};
  }
  if (!node["url"]) throw WrongModel{"it needs a \"url\", such as http://127.0.0.1:8000/v1"};
  model.url = scalar(node["url"], "url");
  auto text_into = [&](const char* key, std::string& into) {
    if (node[key]) into = scalar(node[key], key);
  };
  text_into("model", model.model);
  text_into("key_file", model.key_file);
  text_into("key_command", model.key_command);
  text_into("key_env", model.key_env);
  text_into("ca", model.ca_file);
  int keys = (model.key_file.empty() ? 0 : 1) + (model.key_command.empty() ? 0 : 1) + (model.key_env.empty() ? 0 : 1);
  if (keys > 1) throw WrongModel{"it has more than one of \"key_file\", \"key_command\" and \"key_env\""};
  read_count(node, "context", model.context_tokens);
  read_count(node, "max_output", model.max_output_tokens);
  read_count(node, "first_token_seconds", model.first_token_seconds);
  if (node["reasoning_back"]) model.reasoning_back = scalar(node["reasoning_back"], "reasoning_back") == "true";
  if (node["images"]) model.images = scalar(node["images"], "images") == "true";
  if (node["headers"]) {
    if (!node["headers"].IsMap()) throw WrongModel{"\"headers\" must be names with values"};
    for (const auto& pair : node["headers"]) {
      std::string header = scalar(pair.first, "headers");
      model.headers[header] = scalar(pair.second, header);
      if (model.headers[header] == kHiddenHeader) {
        throw WrongModel{
            fmt::format("the value of header \"{}\" was hidden by \"shepherd config\"; put it in", header)};
      }
    }
  }
  if (node["options"]) {
    if (!node["options"].IsMap()) throw WrongModel{"\"options\" must be names with values"};
    model.options = boost::json::serialize(json_of(node["options"]));
  }
  if (node["price"]) {
    Result<ModelPrice> price = parse_price_entry(YAML::Dump(node["price"]));
    if (!price) throw WrongModel{fmt::format("\"price\": {}", price.error().message)};
    model.price = *std::move(price);
  }
  return model;
}

}  // namespace

Result<ModelConfig> parse_model_entry(const std::string& name, const std::string& yaml) {
  try {
    return read_model(name, YAML::Load(yaml));
  } catch (const WrongModel& error) {
    return fail(ErrorCode::invalid_argument, "bad_config", error.message);
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::invalid_argument, "bad_config", fmt::format("not valid YAML: {}", error.msg));
  }
}

std::string model_entry_json(const ModelConfig& model) {
  constexpr std::array<std::string_view, 3> kTypes{"openai", "anthropic", "ollama"};
  boost::json::object entry{{"type", kTypes[static_cast<std::size_t>(model.dialect)]}, {"url", model.url}};
  auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) entry[key] = value;
  };
  auto count = [&](std::string_view key, std::int64_t value) {
    if (value != 0) entry[key] = value;
  };
  text("model", model.model);
  count("context", model.context_tokens);
  count("max_output", model.max_output_tokens);
  count("first_token_seconds", model.first_token_seconds);
  text("key_file", model.key_file);
  text("key_command", model.key_command);
  text("key_env", model.key_env);
  text("ca", model.ca_file);
  if (model.reasoning_back) entry["reasoning_back"] = true;
  if (model.images) entry["images"] = true;
  if (!model.headers.empty()) {
    boost::json::object headers;
    for (const auto& [name, value] : model.headers) headers[name] = kHiddenHeader;
    entry["headers"] = headers;
  }
  if (!model.options.empty()) entry["options"] = boost::json::parse(model.options);
  if (!model.price.as_of.empty()) entry["price"] = boost::json::parse(price_entry_json(model.price));
  return boost::json::serialize(entry);
}

}  // namespace shepherd
