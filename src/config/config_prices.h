// The `prices` section of the configuration: what models cost, by their names, in US dollars per million tokens.
//
//   prices:
//     gpt-5.1: {as_of: 2026-11-01, input: 1.25, output: 10, cache_read: 0.125}
//
// An error describes the problem in the entry; the caller adds its place.
// Threads: value.
#pragma once

#include <string>

#include "base/result.h"
#include "prices/model_price.h"

namespace shepherd {

struct Config;

// `yaml` is the entry itself; it must have a date (YYYY-MM-DD).
Result<ModelPrice> parse_price_entry(const std::string& yaml);

// The entry as JSON, which is also YAML.
std::string price_entry_json(const ModelPrice& price);

// Of an entry of `models`: its own price, otherwise the one that `prices` has for its model. Without a date if there is
// none.
ModelPrice price_of_backend(const Config& config, const std::string& backend);

}  // namespace shepherd
