// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/sanitize.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/publish/artefacts.h"
#include "harness/publish/clean_text.h"
#include "harness/publish/diff.h"
#include "harness/publish/folder.h"

namespace gauntlet {
namespace {

constexpr std::uint64_t kMostBytes = 512 << 20;    // of a file, which lies in memory twice
constexpr std::uint64_t kMostCppBytes = 16 << 20;  // sixteen times a whole submission
constexpr std::size_t kMostDeep = 100;             // folders in each other
constexpr std::size_t kMostDiff = 4 << 20;         // bytes: a person reads less

constexpr const char* kInCode =
    "it stands in code, or in the name of an included file, where another word makes another "
    "program; rewrite the line";

bool is_cpp(const std::string& name) {
  constexpr std::array<std::string_view, 12> kEndings{
      ".cpp", ".cc", ".cxx", ".c", ".h", ".hh", ".hpp", ".hxx", ".cu", ".cuh", ".inl", ".ipp"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

constexpr const char* kInText = "what would take its place is found again; rewrite the line";

enum class Content { text, utf16, binary };

/// Logs may hold a stray NUL or an escape sequence, and are text all the same.
Content content_of(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 1 << 16);
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return Content::utf16;
  constexpr std::array<std::string_view, 8> kPacked{"\x89PNG",
                                                    "PK\x03\x04",
                                                    "\x1f\x8b",
                                                    "%PDF",
                                                    "\xff\xd8",
                                                    "GIF8",
                                                    "\xfd"
                                                    "7zXZ",
                                                    "\x93NUMPY"};
  for (const std::string_view magic : kPacked)
    if (head.starts_with(magic)) return Content::binary;
  std::size_t odd = 0;
  std::size_t zeros = 0;
  for (const char c : head) {
    if (c == '\0') ++zeros;
    if (static_cast<unsigned char>(c) < ' ' && (c < '\b' || c > '\r') && c != '\x1b') ++odd;
  }
  if (zeros * 5 > head.size() * 2 && zeros * 5 < head.size() * 3 && odd - zeros < head.size() / 50)
    return Content::utf16;
  return odd * 10 > head.size() ? Content::binary : Content::text;
}

class Sanitizer {
 public:
  Sanitizer(const Owner& owner, bool write) : folder_(owner.folder), rules_(owner), write_(write) {}

  SanitizeReport run() {
    go_through("", 0);
    return std::move(report_);
  }

 private:
  void leave(const std::string& file, const std::string& rule, const std::string& why) {
    report_.left.push_back({masked(rules_, file), 0, rule, 0, "", why});
  }

  /// Runs one step; what the system refuses becomes a line of the report, and the rest goes on.
  template <class Step>
  bool attempt(const std::string& file, std::string_view what, const Step& step) {
    try {
      step();
      return true;
    } catch (const std::system_error& error) {
      leave(file, what == "read" ? "not-read" : "not-written",
            fmt::format("it could not be {}: {}; nothing of it was changed", what,
                        reason_of(error.code().value(), what)));
      return false;
    }
  }

  static std::string reason_of(int error, std::string_view what) {
    if (error == EFBIG && what == "read")
      return fmt::format("more than {} MiB are not looked into", kMostBytes >> 20);
    if (error == EBUSY) return "it changed meanwhile, run this again when nobody writes there";
    return std::generic_category().message(error);
  }

  void go_through(const std::string& path, std::size_t depth) {
    std::vector<FolderEntry> entries;
    if (!attempt(path.empty() ? "." : path, "read", [&] { entries = folder_.entries(path); }))
      return;
    if (depth > kMostDeep) {
      leave(path, "not-read",
            fmt::format("more than {} folders in each other are not gone through", kMostDeep));
      return;
    }
    for (const FolderEntry& entry : entries) visit(entry, depth);
  }

  void visit(const FolderEntry& entry, std::size_t depth) {
    if (const std::string why = not_ours_to_remove(entry); !why.empty())
      return leave(entry.path, kind_of(entry), why);
    if (entry.kind == FolderEntry::Kind::folder) {
      const std::string rule = artefact_folder(
          entry.name(), [&](const std::string& witness) { return holds(entry.path, witness); });
      if (!rule.empty()) return remove(entry, rule);
      look_at_name(entry);
      return go_through(entry.path, depth + 1);
    }
    if (entry.kind == FolderEntry::Kind::link) return look_at_name(entry);
    if (const std::string rule = artefact_file(entry.name()); !rule.empty())
      return remove(entry, rule);
    look_at_name(entry);
    look_into(entry);
  }

  static std::string kind_of(const FolderEntry& entry) {
    if (entry.kind == FolderEntry::Kind::link) return "link";
    return entry.kind == FolderEntry::Kind::folder ? "history" : "not-a-file";
  }

  bool holds(const std::string& path, const std::string& witness) {
    bool found = false;
    attempt(path, "read", [&] {
      for (const FolderEntry& inner : folder_.entries(path))
        found = found || inner.name() == witness;
    });
    return found;
  }

  void look_at_name(const FolderEntry& entry) {
    for (const Match& match : rules_.find(entry.name()))
      report_.left.push_back({masked(rules_, entry.path), 0, rules_.rule(match).id,
                              match.end - match.begin, begins(entry.name(), match.begin, match.end),
                              "it stands in the name; give the file or folder another one"});
  }

  std::uint64_t bytes_in(const FolderEntry& entry) {
    std::uint64_t bytes = entry.bytes;
    if (entry.kind == FolderEntry::Kind::folder)
      for (const FolderEntry& inner : folder_.entries(entry.path)) bytes += bytes_in(inner);
    return bytes;
  }

  void remove(const FolderEntry& entry, const std::string& rule) {
    Removal removal{masked(rules_, entry.path), 0, rule, 0, "", ""};
    if (entry.kind == FolderEntry::Kind::folder) removal.file += "/";
    if (!attempt(entry.path, "read", [&] { removal.bytes = bytes_in(entry); })) return;
    if (!write_ || attempt(entry.path, "removed", [&] { folder_.remove(entry); }))
      report_.removals.push_back(std::move(removal));
  }

  void look_into(const FolderEntry& entry) {
    FileContent content;
    if (!attempt(entry.path, "read", [&] { content = folder_.read(entry.path, kMostBytes); }))
      return;
    if (const std::string rule = artefact_content(content.bytes); !rule.empty())
      return remove(entry, rule);
    ++report_.files;
    const Content kind = content_of(content.bytes);
    if (kind == Content::utf16)
      return leave(entry.path, "not-read", "it is UTF-16; convert it to UTF-8 and run this again");
    if (kind == Content::binary) return search_binary(entry, content.bytes);
    if (is_cpp(entry.name()) && content.bytes.size() > kMostCppBytes)
      return leave(entry.path, "not-read",
                   fmt::format("more than {} MiB of C++ are not looked into", kMostCppBytes >> 20));
    clean(entry, content);
  }

  /// Another byte makes a broken file of it.
  void search_binary(const FolderEntry& entry, std::string_view bytes) {
    ++report_.binaries;
    for (const Match& match : rules_.find(bytes, false))
      report_.left.push_back({masked(rules_, entry.path), 0, rules_.rule(match).id,
                              match.end - match.begin, begins(bytes, match.begin, match.end),
                              "it stands in a binary file; make that again without it"});
  }

  void clean(const FolderEntry& entry, const FileContent& content) {
    const CleanText clean = clean_text(rules_, content.bytes, is_cpp(entry.name()));
    if (clean.edits.empty() && clean.left.empty()) return;
    const std::string file = masked(rules_, entry.path);
    LineCounter lines(content.bytes);
    for (const Match& match : clean.left)
      report_.left.push_back({file, lines.at(match.begin), rules_.rule(match).id,
                              match.end - match.begin,
                              begins(content.bytes, match.begin, match.end),
                              is_cpp(entry.name()) ? kInCode : kInText});
    if (clean.edits.empty()) return;
    if (write_ &&
        !attempt(entry.path, "written", [&] { folder_.replace(entry.path, content, clean.text); }))
      return;
    LineCounter again(content.bytes);
    for (const Edit& edit : clean.edits)
      report_.removals.push_back({file, again.at(edit.begin), rules_.rules()[edit.rule].id,
                                  edit.end - edit.begin,
                                  begins(content.bytes, edit.begin, edit.end), edit.put});
    if (report_.diff.size() < kMostDiff)
      report_.diff += masked_diff(file, content.bytes, clean);
    else if (!std::exchange(diff_is_cut_, true))
      report_.diff += "... and more files, which are listed below\n";
  }

  /// Counts each byte once, for places in their order.
  class LineCounter {
   public:
    explicit LineCounter(std::string_view text) : text_(text) {}
    std::size_t at(std::size_t place) {
      line_ += static_cast<std::size_t>(
          std::count(text_.begin() + static_cast<std::ptrdiff_t>(seen_),
                     text_.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
      seen_ = place;
      return line_;
    }

   private:
    std::string_view text_;
    std::size_t seen_ = 0;
    std::size_t line_ = 1;
  };

  static std::string begins(std::string_view text, std::size_t begin, std::size_t end) {
    return first_characters(text.substr(begin, end - begin));
  }

  WorkingFolder folder_;
  RuleBook rules_;
  bool write_;
  bool diff_is_cut_ = false;
  SanitizeReport report_;
};

}  // namespace

SanitizeReport sanitize(const Owner& owner, bool write) {
  if (!owner.folder.has_relative_path() || owner.folder == owner.home)
    throw UserError(
        fmt::format("{} is no model's working folder, but all that you have; name the "
                    "folder that is to be published",
                    one_line(owner.folder.string(), 500)));
  try {
    return Sanitizer(owner, write).run();
  } catch (const std::system_error& error) {
    throw UserError(fmt::format("cannot go through {}: {}; name a folder that can be read",
                                one_line(owner.folder.string(), 500), error.code().message()));
  }
}

}  // namespace gauntlet
