// What the bodies of all dialects share: schemas, arguments, options, content parts.
// Threads: value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "llm/model.h"

namespace shepherd {

// The parameters of a tool as backends take them: a JSON Schema object without `$schema`, whose arrays have `items`.
// What is no JSON object becomes one that takes nothing.
std::string tool_schema(std::string_view parameters);

// A call's arguments as a JSON object; "{}" if they do not parse, since a backend would refuse the whole history.
std::string call_arguments(std::string_view arguments);

// A call's name as backends take it back: [A-Za-z0-9_-]{1,64}. A model can invent any other, and a backend would refuse
// the whole history for it.
std::string call_name(std::string_view name);
// The same without the bound, for ids: those of one backend can have characters that another refuses.
std::string plain_name(std::string_view name);

// Members of two JSON objects as source text by name; those of `later` win.
std::map<std::string, std::string> joined_members(std::string_view earlier, std::string_view later);

// Content parts of OpenAI's form, taken apart. Others are left out.
struct ContentPart {
  std::string text;               // of a text part
  std::string mime_type, base64;  // of an image in a data URL
  std::string url;                // of any other image
};
std::vector<ContentPart> content_parts(std::string_view json);

// The content of a tool's message and, if it returned images that this backend does not get, a line that says so.
std::string told_content(const ModelMessage& message, bool takes_images, std::string_view model);

// Where the tool loop that goes on begins: behind the last user message that is not a word into the loop itself. Such a
// word follows the results of tools.
std::size_t loop_start(const std::vector<ModelMessage>& messages);

}  // namespace shepherd
