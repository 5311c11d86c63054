// The forms with which an agent asks for values (elicitation), as the questions that people answer, and back.
// Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// The `input` of an approval of kind question: {"questions":[…],"requestedSchema":…}. Each property of the schema is a
// question: its title, its description or its name; its options are those of the schema.
std::string form_questions(std::string_view message, std::string_view schema);

// What was answered, question by question, as the values the schema wants. A question may be named by its property.
std::string form_content(std::string_view schema, std::string_view answers);

}  // namespace shepherd
