// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/front_end/compile_folder.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet::simt {
namespace {

namespace fs = std::filesystem;

constexpr ReadRule kProduct{32u << 20, false};

}  // namespace

CompileFolder::CompileFolder(const fs::path& headers, const fs::path& sources)
    : folder_("device-code") {
  fs::copy(headers, folder_.path() / "include", fs::copy_options::recursive);
  fs::copy(sources, folder_.path() / "source", fs::copy_options::recursive);
  // The compiler's user reads them; a copy has the permissions of where it came from.
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
    fs::permissions(
        entry.path(),
        fs::perms::others_read | (entry.is_directory() ? fs::perms::others_exec : fs::perms::none),
        fs::perm_options::add);
}

CompileFolder::Made CompileFolder::run(const DeviceCompiler& compiler,
                                       const std::vector<std::string>& arguments,
                                       const std::string& product) const {
  std::vector<std::string> argv{compiler.path};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const CommandResult result = run_command({argv, folder_.path(), {}, compiler.folders}, Limits());
  if (const auto* fault = std::get_if<Unstarted>(&result.outcome))
    throw Broken(fault->fault, fault->why);
  Made made;
  made.messages = result.output;
  const auto* end = std::get_if<Exited>(&result.outcome);
  if (end == nullptr) {
    made.messages += fmt::format("\nthe compiler was stopped: {}", describe(result.outcome));
  } else if (end->code == 0) {
    try {
      made.product = read_file(product, kProduct);
    } catch (const UserError& error) {  // the source's doing: too much of it, or a link
      made.messages += fmt::format("\nwhat was compiled cannot be taken: {}", error.what());
    }
  }
  return made;
}

}  // namespace gauntlet::simt
