// Determines the paths that Landlock must grant so that everything but the hidden paths is accessible.
//
// Landlock can only grant, and a grant for a directory covers everything inside. A directory with a hidden path inside
// is therefore not granted itself; its other present entries are. The agent can access neither later entries nor the
// list of its names.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "process/confinement.h"

namespace shepherd {

struct LandlockGrant {
  std::string path;
  bool writable = true;

  friend bool operator==(const LandlockGrant&, const LandlockGrant&) = default;
};

// `steps` are those of level secrets. With `root` the agent is root and gets no raw devices and no kernel settings.
// unavailable/cannot_confine if Landlock cannot express the steps: `directory`, where the agent works, contains a
// hidden path; a hidden socket could still be connected to; a directory on the way cannot be listed; or there are more
// than kMaxLandlockGrants grants.
Result<std::vector<LandlockGrant>> plan_landlock(const std::vector<ConfineStep>& steps, const std::string& directory,
                                                 bool root);

}  // namespace shepherd
