// Drivers by name: what a task's `agent` may be.
// Threads: any.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "driver/driver.h"

namespace shepherd {

std::vector<std::string_view> driver_names();

// nullptr for an unknown name.
std::unique_ptr<Driver> make_driver(std::string_view name);

}  // namespace shepherd
