// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "harness/cli/environment.h"
#include "harness/run/folders.h"

namespace gauntlet {

/// Where the files lie that a program came with.
struct Installation {
  std::filesystem::path data;      // the checkout it was built from, or what was installed
  std::filesystem::path programs;  // gauntlet-worker, gauntlet-device and the CUDA runtime
  bool installed = false;          // else it lies in a build folder of the checkout
};

/// Of the executable in `folder`. The build writes a file beside an executable that says which
/// checkout it belongs to. It is not installed: without it, `data` and `programs` say the way from the
/// executable, so that what was installed can be moved as a whole.
Installation find_installation(const std::filesystem::path& folder,
                               const std::filesystem::path& data,
                               const std::filesystem::path& programs);

/// The file beside a built executable.
inline constexpr const char* kCheckoutFile = "gauntlet-checkout";

/// Where a program that does not lie in a checkout works when it is called in `current`: there. Inside
/// of a submission, beside it, so that no results come to lie among solutions; and never in a folder
/// `submissions`, but where that lies.
std::filesystem::path workspace_at(const std::filesystem::path& current);

/// $XDG_CACHE_HOME/gauntlet, else ~/.cache/gauntlet; without a home build/cache in the workspace.
std::filesystem::path user_cache(const Environment& environment,
                                 const std::filesystem::path& workspace);

/// Messages call the program as in a checkout, "./gauntlet grade"; this is what they are where it was
/// installed. Files that are written, as reports, are the same bytes everywhere.
std::string as_called(std::string text, bool installed);

/// What `gauntlet help files` prints.
std::string files_text();

}  // namespace gauntlet
