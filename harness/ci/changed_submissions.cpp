// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/changed_submissions.h"

#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/names.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

constexpr NameTable<SubmissionChange, 5> kChanges{
    "change", {"added", "edited", "renamed", "removed", "unchanged"}};

/// Takes the text up to the next zero byte.
std::string take(std::string_view& text) {
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos)
    throw Broken(
        OwnFault::process,
        fmt::format("git printed a list of files that does not end: '{}'", printable(text, 200)));
  std::string word(text.substr(0, end));
  text.remove_prefix(end + 1);
  return word;
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts{""};
  for (const char c : path) {
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// To which submission a path belongs. A path with two parts is a file beside the submissions, or
/// something in a submission's place that is no folder: a link, another repository.
std::optional<ChangedSubmission> owner_of(const std::string& path) {
  const auto parts = parts_of(path);
  if (parts.size() < 2 || parts[0] != "submissions") return std::nullopt;
  ChangedSubmission owner{parts[1]};
  if (parts.size() >= 4 && parts[2] == "attempts") owner.attempt = parts[3];
  return owner;
}

class Collector {
 public:
  explicit Collector(const CheckoutStates& states) : states_(states) {}

  void add(const std::string& path, const std::string& moved_from = "") {
    auto owner = owner_of(path);
    // A file where folders of submissions or of attempts are.
    if (owner && path == owner->folder() && !is_folder(path)) {
      if (owner->attempt == "1")
        owner.reset();
      else
        owner->attempt = "1";
    }
    if (!owner) {
      ++outside_;
      return;
    }
    Seen& seen = seen_[{owner->name, owner->attempt}];
    if (const auto source = owner_of(moved_from); source && !moved_from.empty())
      ++seen.moved[{source->name, source->attempt}];
  }

  ChangedFiles result() const {
    ChangedFiles changed;
    changed.outside = outside_;
    for (const auto& [key, seen] : seen_) {
      ChangedSubmission one{key.first, key.second};
      const bool before = states_.existed(one.folder());
      const bool now = states_.exists(one.folder());
      one.change = !now ? SubmissionChange::removed
                        : (before ? SubmissionChange::edited : SubmissionChange::added);
      if (one.change == SubmissionChange::added) one.renamed_from = origin(seen);
      if (!one.renamed_from.empty()) one.change = SubmissionChange::renamed;
      changed.submissions.push_back(one);
    }
    return changed;
  }

 private:
  using Key = std::pair<std::string, std::string>;
  struct Seen {
    std::map<Key, int> moved;  // from where, and how many files
  };

  bool is_folder(const std::string& path) const {
    return states_.existed(path) || states_.exists(path);
  }

  /// The folder that most files came from, if it is gone.
  std::string origin(const Seen& seen) const {
    int most = 0;
    std::string from;
    for (const auto& [key, files] : seen.moved) {
      const ChangedSubmission source{key.first, key.second};
      if (files <= most || states_.exists(source.folder())) continue;
      most = files;
      from = source.generation();
    }
    return from;
  }

  const CheckoutStates& states_;
  std::map<Key, Seen> seen_;
  int outside_ = 0;
};

}  // namespace

std::string_view name_of(SubmissionChange change) {
  return kChanges.of(change);
}

std::string ChangedSubmission::folder() const {
  const std::string first = "submissions/" + name;
  return attempt == "1" ? first : first + "/attempts/" + attempt;
}

ChangedFiles changed_files(std::string_view name_status, std::string_view untracked,
                           const CheckoutStates& states) {
  Collector collector(states);
  while (!name_status.empty()) {
    const std::string status = take(name_status);
    if (status.empty() || std::string_view("ACDMRTUX").find(status[0]) == std::string_view::npos)
      throw Broken(OwnFault::process, fmt::format("git printed the status '{}', which is none",
                                                  printable(status, 40)));
    const std::string path = take(name_status);
    if (status[0] != 'R' && status[0] != 'C') {
      collector.add(path);
      continue;
    }
    const std::string to = take(name_status);
    if (status[0] == 'R') collector.add(path);  // it is gone from there
    collector.add(to, path);
  }
  while (!untracked.empty()) collector.add(take(untracked));
  return collector.result();
}

}  // namespace gauntlet
