#include "harness/live/scripted_place.h"

#include <fmt/format.h>
#include <cstdlib>

#include <filesystem>
#include <fstream>
#include <utility>

#include "harness/model/recipe.h"

namespace shepherd::harness {
namespace {

constexpr const char* kDirectories[] = {"home", "work", "logs", "tmp"};

Result<std::string> make_root() {
  std::error_code problem;
  std::string root = (std::filesystem::temp_directory_path(problem) / "shepherd-agent-test-XXXXXX").string();
  if (!problem && ::mkdtemp(root.data()) != nullptr) {
    root = std::filesystem::canonical(root, problem).string();
    for (const char* name : kDirectories) {
      if (!problem) std::filesystem::create_directory(root + "/" + name, problem);
    }
    if (!problem) return root;
  }
  return fail(ErrorCode::unavailable, "no_directory", "no temporary directory can be made; is TMPDIR a directory?");
}

Result<void> write_files(const Recipe& recipe, const std::string& home) {
  for (const RecipeFile& file : recipe.files) {
    std::filesystem::path path = std::filesystem::path(home) / file.path;
    std::error_code problem;
    std::filesystem::create_directories(path.parent_path(), problem);
    std::ofstream out(path, std::ios::trunc);
    out << file.text;
    out.close();
    if (!out) return fail(ErrorCode::unavailable, "io_error", fmt::format("cannot write {}", path.string()));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ScriptedPlace>> ScriptedPlace::make(const std::string& agent, const std::string& path) {
  auto model = ScriptedModel::listen();
  if (!model) return fail(std::move(model.error()));
  auto root = make_root();
  if (!root) return fail(std::move(root.error()));
  std::unique_ptr<ScriptedPlace> place(new ScriptedPlace(*std::move(model), *root));
  std::string home = *root + "/home";
  auto recipe = recipe_for(agent, home, place->model().url());
  if (!recipe) {
    return fail(ErrorCode::invalid_argument, "no_recipe",
                fmt::format("it is not known how {} is pointed at a scripted model; that is known of {}", agent,
                            fmt::join(agents_with_recipe(), ", ")));
  }
  if (auto written = write_files(*recipe, home); !written) return fail(std::move(written.error()));
  place->environment_ = std::move(recipe->environment);
  for (std::string variable :
       {"PATH=" + path, "TMPDIR=" + *root + "/tmp", std::string("LANG=C.UTF-8"), std::string("TERM=dumb")}) {
    place->environment_.push_back(std::move(variable));
  }
  return place;
}

ScriptedPlace::~ScriptedPlace() {
  std::error_code ignored;  // what stays behind is in the system's temporary directory
  for (const char* name : kDirectories) {
    if (keeps_logs_ && std::string_view(name) == "logs") continue;
    std::filesystem::remove_all(root_ + "/" + name, ignored);
  }
  if (!keeps_logs_) std::filesystem::remove_all(root_, ignored);
}

}  // namespace shepherd::harness
