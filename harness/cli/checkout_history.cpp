// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/checkout_history.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

std::string find_git() {
  for (const char* path : {"/usr/local/bin/git", "/usr/bin/git"})
    if (access(path, X_OK) == 0) return path;
  throw UserError("there is no git in /usr/bin or /usr/local/bin: install it (apt install git)",
                  kExitIncomplete);
}

/// git is of this machine and reads what belongs to us, in places that no list of ours could name
/// (a worktree's repository, alternates). What it must not do is write or talk to anybody.
Walls walls_around_git() {
  Walls walls;
  walls.landlock = walls.mounts = walls.namespaces = walls.uid = walls.rlimits = false;
  return walls;
}

Limits limits_of_git() {
  Limits limits;
  limits.output_kept = limits.output_flood = std::size_t{64} << 20;
  return limits;
}

std::vector<std::string> split(const std::string& text, char end) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find(end, at), text.size());
    words.push_back(text.substr(at, next - at));
    at = next + 1;
  }
  return words;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

CheckoutHistory::CheckoutHistory(const fs::path& root, std::string base)
    : root_(fs::absolute(root).lexically_normal()), base_(std::move(base)) {
  if (!fs::exists(root_ / ".git"))
    throw UserError(
        fmt::format("{} is no git checkout, so that nobody knows what changed there; "
                    "'--all' without '--base' grades every submission",
                    one_line(root_.string(), 400)));
  if (base_.starts_with('-'))
    throw UserError(fmt::format("--base {}: is no name of a commit", one_line(base_, 80)));
  base_commit_ = first_line(
      ask({"rev-parse", "--verify", "--quiet", base_ + "^{commit}"},
          fmt::format("--base {}: is no commit that this checkout has; fetch it first (git fetch "
                      "origin; in GitHub's checkout action: fetch-depth: 0)",
                      one_line(base_, 80))));
  fork_point_ = first_line(
      ask({"merge-base", base_commit_, "HEAD"},
          fmt::format("--base {}: has no common ancestor with what is checked out; is this a "
                      "shallow clone? (git fetch --unshallow; in GitHub's checkout action: "
                      "fetch-depth: 0)",
                      one_line(base_, 80))));
}

std::string CheckoutHistory::ask(const std::vector<std::string>& arguments,
                                 const std::string& trouble) const {
  const ScratchFolder scratch("git");
  // When we are root it becomes another user's, and git has no power over that.
  fs::permissions(scratch.path(), fs::perms::others_read | fs::perms::others_exec,
                  fs::perm_options::add);
  Command command;
  // No configuration of a user or a machine counts, and HOME is no folder that a submission could
  // have put one into.
  command.argv = {"/usr/bin/env", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
                  "GIT_CONFIG_GLOBAL=/dev/null", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
                  "GIT_NO_LAZY_FETCH=1", find_git(), "-c", "core.fsmonitor=false",
                  // A container's root works on a checkout that the runner's user made.
                  "-c", "safe.directory=*", "--git-dir=" + (root_ / ".git").string(),
                  "--work-tree=" + root_.string(), "--literal-pathspecs"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.folder = scratch.path();
  command.walls = walls_around_git();
  const CommandResult result = run_command(command, limits_of_git());
  if (const auto* unstarted = std::get_if<Unstarted>(&result.outcome))
    throw Broken(unstarted->fault, "git: " + unstarted->why);
  const auto* end = std::get_if<Exited>(&result.outcome);
  if (end != nullptr && end->code == 0) return result.output;
  const std::string said = one_line(result.output, 300);
  throw UserError(fmt::format("{} (git {}: {}{}{})", trouble, arguments.front(),
                              describe(result.outcome), said.empty() ? "" : ": ", said));
}

ChangedFiles CheckoutHistory::changes() const {
  const std::string trouble = "what changed cannot be told";
  // Renames of whole files only: to look for similar ones takes time that a stranger could make
  // long.
  const std::string changed = ask({"diff", "--name-status", "-z", "-M100%", "--no-ext-diff",
                                   "--no-textconv", "--ignore-submodules=dirty", fork_point_, "--"},
                                  trouble);
  const std::string untracked = ask({"ls-files", "-z", "--others", "--exclude-standard",
                                     "--full-name", "--", (root_ / "submissions").string()},
                                    trouble);
  std::set<std::string> folders;
  for (const std::string& file : split(ask({"ls-tree", "-r", "-z", "--name-only", "--full-tree",
                                            fork_point_, "--", "submissions/"},
                                           trouble),
                                       '\0'))
    for (std::size_t at = file.find('/'); at != std::string::npos; at = file.find('/', at + 1))
      folders.insert(file.substr(0, at));
  const CheckoutStates states{[&](const std::string& folder) { return folders.contains(folder); },
                              [&](const std::string& folder) {
                                return fs::is_symlink(root_ / folder) ||
                                       fs::is_directory(root_ / folder);
                              }};
  return changed_files(changed, untracked, states);
}

int CheckoutHistory::extract(const std::string& folder, const fs::path& target) const {
  const std::string trouble = fmt::format("{} of {} cannot be read", folder, one_line(base_, 80));
  int files = 0;
  for (const std::string& file :
       split(ask({"ls-tree", "-z", "--name-only", "--full-tree", base_commit_, "--", folder + "/"},
                 trouble),
             '\0')) {
    const fs::path name = fs::path(file).filename();
    if (name.extension() != ".jsonl" && name.extension() != ".yaml") continue;
    write_file(target / name, ask({"cat-file", "blob", base_commit_ + ":" + file}, trouble));
    ++files;
  }
  return files;
}

}  // namespace gauntlet
