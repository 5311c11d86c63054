#include "host/opened_models.h"

#include <fmt/format.h>

#include <utility>

namespace shepherd {
namespace {

// A model that another part owns, so that a list of fall-backs and direct calls share its connections and its state.
class SharedModel final : public Model {
 public:
  explicit SharedModel(Model& model) : model_(model) {}

  const std::string& name() const override { return model_.name(); }
  std::unique_ptr<ModelCall> start(ModelRequest request, ModelObserver& observer) override {
    return model_.start(std::move(request), observer);
  }
  std::unique_ptr<ModelCall> count(const ModelRequest& request,
                                   std::move_only_function<void(Result<std::int64_t>)> done) override {
    return model_.count(request, std::move(done));
  }
  std::unique_ptr<ModelCall> probe(std::move_only_function<void(Result<ModelFacts>)> done) override {
    return model_.probe(std::move(done));
  }
  ModelFacts facts() const override { return model_.facts(); }
  bool answers() const override { return model_.answers(); }

 private:
  Model& model_;
};

Model* find_model(const OpenedModels& opened, const std::string& name) {
  for (const auto& each : opened.all) {
    if (each->name() == name) return each.get();
  }
  return nullptr;
}

}  // namespace

Result<OpenedModels> open_models(const Config& config, ModelParts parts) {
  OpenedModels opened;
  for (const auto& [name, model] : config.models) {
    auto made = open_model(model, parts);
    if (!made) return fail(made.error());
    opened.all.push_back(*std::move(made));
    if (config.chat_models.empty()) opened.listed.push_back(opened.all.back().get());
  }
  for (const std::string& name : config.chat_models) {
    Model* found = find_model(opened, name);
    if (found == nullptr) {
      return fail(ErrorCode::invalid_argument, "bad_config",
                  fmt::format("chat.models names \"{}\", but models has no such entry", name));
    }
    opened.listed.push_back(found);
  }
  std::vector<std::unique_ptr<Model>> shared;
  shared.reserve(opened.listed.size());
  for (Model* each : opened.listed) shared.push_back(std::make_unique<SharedModel>(*each));
  opened.chat = first_working(std::move(shared));
  return opened;
}

}  // namespace shepherd
