#include "driver/acp/form.h"

#include <optional>
#include <vector>

#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

std::string question_of(std::string_view key, std::string_view property) {
  for (std::string_view name : {"title", "description"}) {
    if (std::string text = text_member(property, name); !text.empty()) return text;
  }
  return std::string(key);
}

struct FormChoice {
  std::string value, title, description;
};

// enum: values alone; oneOf, anyOf: values with titles.
std::vector<FormChoice> choices_of(std::string_view schema) {
  std::vector<FormChoice> choices;
  for (std::string_view each : array_elements(find_member(schema, "enum")).value_or(std::vector<std::string_view>())) {
    std::string value = string_value(each).value_or("");
    choices.push_back({value, value, ""});
  }
  for (std::string_view list : {"oneOf", "anyOf"}) {
    for (std::string_view each : array_elements(find_member(schema, list)).value_or(std::vector<std::string_view>())) {
      choices.push_back({text_member(each, "const"), text_member(each, "title"), text_member(each, "description")});
    }
  }
  return choices;
}

std::string_view items_of(std::string_view property) {
  return text_member(property, "type") == "array" ? find_member(property, "items") : property;
}

std::string value_text(std::string_view property, std::string_view said) {
  for (const FormChoice& choice : choices_of(items_of(property))) {
    if (choice.title == said) return choice.value;
  }
  return std::string(said);
}

bool is_number(std::string_view text) {
  return number_value(text).has_value();
}

// One answer as the property's type wants it; empty: it is none of that type.
std::string typed(std::string_view property, std::string_view answer) {
  std::string type = text_member(property, "type");
  auto text = string_value(answer);
  if (type == "boolean") {
    bool yes = answer == "true" || (text && (*text == "true" || *text == "yes" || *text == "Yes"));
    return yes ? "true" : "false";
  }
  if (type == "integer" || type == "number") {
    std::string_view number = text ? std::string_view(*text) : answer;
    return is_number(number) ? std::string(number) : std::string();
  }
  if (type == "array") {
    std::string list = "[";
    auto elements = array_elements(answer).value_or(std::vector<std::string_view>{answer});
    for (std::string_view each : elements) {
      auto said = string_value(each);
      if (!said) continue;
      if (list.size() > 1) list.push_back(',');
      append_json_string(list, value_text(property, *said));
    }
    return list + "]";
  }
  std::string out;
  append_json_string(out, value_text(property, text ? *text : std::string(answer)));
  return out;
}

}  // namespace

std::string form_questions(std::string_view message, std::string_view schema) {
  std::string questions;
  JsonMembers properties(find_member(schema, "properties").empty() ? "{}" : find_member(schema, "properties"));
  while (properties.next() && questions.size() <= kMaxEventTextBytes) {
    std::string_view property = properties.value();
    questions.push_back(questions.empty() ? '[' : ',');
    write_object(questions, [&](JsonObject& object) {
      std::string key = unescape(properties.key()).value_or("");
      object.text("question", question_of(key, property));
      object.text("header", key.substr(0, kMaxAgentIdBytes));
      object.flag("multiSelect", text_member(property, "type") == "array");
      std::string options;
      for (const FormChoice& choice : choices_of(items_of(property))) {
        options.push_back(options.empty() ? '[' : ',');
        write_object(options, [&](JsonObject& option) {
          option.text("label", choice.title.empty() ? choice.value : choice.title);
          option.text_unless_empty("description", choice.description);
        });
      }
      object.json("options", (options.empty() ? "[" : options) + "]");
    });
  }
  if (questions.empty()) {
    questions.push_back('[');
    write_object(questions, [&](JsonObject& object) {
      object.text("question", message);
      object.json("options", "[]");
    });
  }
  return object_text([&](JsonObject& object) {
    object.json("questions", questions + "]");
    if (schema.starts_with('{') && schema.size() <= kMaxEventTextBytes) object.json("requestedSchema", schema);
  });
}

std::string form_content(std::string_view schema, std::string_view answers) {
  std::string content = "{";
  JsonMembers properties(find_member(schema, "properties").empty() ? "{}" : find_member(schema, "properties"));
  while (properties.next()) {
    std::string key = unescape(properties.key()).value_or("");
    std::string_view answer = find_member(answers, key);
    if (answer.empty()) answer = find_member(answers, question_of(key, properties.value()));
    if (answer.empty()) continue;
    std::string value = typed(properties.value(), answer);
    if (value.empty()) continue;
    if (content.size() > 1) content.push_back(',');
    content.append("\"").append(properties.key()).append("\":").append(value);
  }
  return content + "}";
}

}  // namespace shepherd
