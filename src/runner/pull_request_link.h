// The link to a pull request (GitHub) or merge request (GitLab) in an agent's output.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// The last link in the text; empty if there is none. With a repository's address, only links to that repository.
std::string pull_request_link(std::string_view text, std::string_view repository);

}  // namespace shepherd
