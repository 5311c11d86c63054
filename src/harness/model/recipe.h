// How an agent that Shepherd knows is pointed at the scripted model: variables and settings files for a throw-away
// home.
//
// The key is worthless, updates and reports to the vendor are off, and nothing of the user's own account is read.
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd::harness {

struct RecipeFile {
  std::string path;  // below the home
  std::string text;
};

struct Recipe {
  std::vector<std::string> environment;  // NAME=value, with HOME
  std::vector<RecipeFile> files;
};

// nullopt for an agent that cannot be pointed elsewhere, or of which it is not known how.
std::optional<Recipe> recipe_for(std::string_view agent, const std::string& home, const std::string& model_url);

std::vector<std::string_view> agents_with_recipe();

}  // namespace shepherd::harness
