// Which paths Landlock must grant so that all but the hidden ones are there.
//
// Landlock grants and cannot take away, and what it grants for a directory holds for all inside. So a directory with
// something hidden in it is not granted itself, but everything else that lies in it now. What is put there later, and
// the list of its names, the agent does not get.
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

// `steps` are those of level secrets. `root`: the agent is root, and gets no raw devices and no kernel settings.
// unavailable/cannot_confine when the steps cannot be said so: `directory`, where the agent works, has something hidden
// in it; a hidden socket can still be talked to; a directory on the way cannot be listed, or there are more than
// kMaxLandlockGrants.
Result<std::vector<LandlockGrant>> plan_landlock(const std::vector<ConfineStep>& steps, const std::string& directory,
                                                 bool root);

}  // namespace shepherd
