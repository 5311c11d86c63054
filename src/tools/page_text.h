// A page as text that a model reads. Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// HTML without its tags, scripts and styles. Headings, items of lists, code and links stay visible as Markdown. One
// pass, so its time grows with the length alone; what is not valid HTML becomes text somehow.
std::string html_text(std::string_view html);

// Whether a response of this Content-Type is text. An empty one is, if the body has no NUL.
bool is_text_type(std::string_view content_type, std::string_view body);
bool is_html_type(std::string_view content_type, std::string_view body);

// The bytes as UTF-8. Knows ISO-8859-1 and Windows-1252 besides; what is not valid becomes U+FFFD.
std::string decoded_body(std::string_view content_type, std::string_view body);

}  // namespace shepherd
