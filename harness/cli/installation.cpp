// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/installation.h"

#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

Installation find_installation(const fs::path& folder, const fs::path& data,
                               const fs::path& programs) {
  if (fs::exists(folder / kCheckoutFile)) return {read_file(folder / kCheckoutFile), folder, false};
  return {(folder / data).lexically_normal(), (folder / programs).lexically_normal(), true};
}

fs::path workspace_at(const fs::path& current) {
  fs::path workspace = current;
  for (fs::path folder = current; folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "model.yaml")) workspace = folder.parent_path();
  return workspace.filename() == "submissions" ? workspace.parent_path() : workspace;
}

fs::path user_cache(const Environment& environment, const fs::path& workspace) {
  // What is relative there is to be ignored, says the XDG Base Directory Specification.
  if (const fs::path cache = environment("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "gauntlet";
  if (const fs::path home = environment("HOME"); home.is_absolute())
    return home / ".cache" / "gauntlet";
  return workspace / "build" / "cache";
}

std::string as_called(std::string text, bool installed) {
  constexpr std::string_view kHere = "./gauntlet";
  if (installed)
    for (std::size_t at = 0; (at = text.find(kHere, at)) != std::string::npos;) text.erase(at, 2);
  return text;
}

std::string files_text() {
  return "Of a checkout, ./gauntlet uses all that it needs; --root FOLDER names another checkout.\n"
         "\n"
         "                    in a checkout    installed\n"
         "  data              the checkout     PREFIX/share/gauntlet\n"
         "  helper programs   build/           PREFIX/libexec/gauntlet\n"
         "  workspace         the checkout     the current folder\n"
         "  compiled code     build/cache      $XDG_CACHE_HOME/gauntlet or ~/.cache/gauntlet\n"
         "\n"
         "Data are challenges, references, what audits need, and the rubric; the environment "
         "variable "
         "GAUNTLET_DATA_DIR names another folder of them.\n"
         "The workspace has submissions/, and gets results/ (--results FOLDER names another "
         "folder), "
         "reports/ and build/. Called inside of a submission, an installed program works beside "
         "that: "
         "results of models/bravo lie in models/results.\n"
         "Compiled code may be removed at any time. Scratch folders lie in $TMPDIR or /tmp and are "
         "gone "
         "when a run ends.\n";
}

}  // namespace gauntlet
