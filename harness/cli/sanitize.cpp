// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/sanitize.h"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/cli/exit_codes.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// A folder, or what a submission of that name lies in.
fs::path working_folder(const Context& context, const std::string& word) {
  std::error_code error;
  for (const fs::path& folder : {fs::path(word), context.workspace / "submissions" / word})
    if (fs::is_directory(folder, error)) return fs::canonical(folder);
  throw UserError(
      fmt::format("{} is no folder, and no submission is called so; name the folder "
                  "that the model worked in",
                  one_line(word, 500)));
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Owner owner_of(const fs::path& folder, const SanitizeOptions& options) {
  const char* home = std::getenv("HOME");
  return {folder, home == nullptr ? "" : home, host_name(), options.names};
}

std::string amount(std::uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string bytes(std::uint64_t count) {
  return amount(count, "byte", "bytes");
}

/// "log.txt:12  github-pat  40 bytes  ghp_***"; all of it is masked and on one line already.
template <class Item>
std::string in_words(const Item& item) {
  std::string line = "  " + item.file;
  if (item.line > 0) line += fmt::format(":{}", item.line);
  line += "  " + item.rule;
  if (item.bytes > 0 || item.line > 0) line += "  " + bytes(item.bytes);
  return item.begins.empty() ? line : line + "  " + item.begins;
}

std::string text_of(const SanitizeReport& report, bool write) {
  std::string text = report.diff;
  if (!text.empty()) text += "\n";
  if (!report.removals.empty()) text += write ? "Removed:\n" : "To be removed:\n";
  for (const Removal& removal : report.removals) text += in_words(removal) + "\n";
  if (!report.left.empty()) text += "Left to you:\n";
  for (const LeftOver& left : report.left) text += in_words(left) + ": " + left.why + "\n";
  text += amount(report.files, "file", "files") + " looked into";
  if (report.binaries > 0)
    text += fmt::format(", {} of them binary and searched for keys only", report.binaries);
  text += fmt::format("; {} {}, {} left to you.\n",
                      amount(report.removals.size(), "removal", "removals"),
                      write ? "done" : "to be done", report.left.size());
  if (!write && !report.removals.empty())
    text += "Nothing was changed: --write does what is listed to be removed.\n";
  if (report.removals.empty() && report.left.empty())
    text +=
        "Nothing was found. No pattern knows every key: read the folder before you publish it.\n";
  return text;
}

Json document_of(const SanitizeReport& report, bool write, bool clean) {
  Json document{{"schema", "gauntlet.sanitize/1"},
                {"written", write},
                {"clean", clean},
                {"files", report.files},
                {"binaries", report.binaries},
                {"removals", Json::array()},
                {"left", Json::array()}};
  for (const Removal& one : report.removals)
    document["removals"].push_back({{"file", one.file},
                                    {"line", one.line > 0 ? Json(one.line) : Json()},
                                    {"rule", one.rule},
                                    {"bytes", one.bytes},
                                    {"begins", one.begins},
                                    {"put", one.put}});
  for (const LeftOver& one : report.left)
    document["left"].push_back({{"file", one.file},
                                {"line", one.line > 0 ? Json(one.line) : Json()},
                                {"rule", one.rule},
                                {"bytes", one.bytes},
                                {"begins", one.begins},
                                {"why", one.why}});
  return document;
}

}  // namespace

VerbResult sanitize_folder(const Context& context, const SanitizeOptions& options) {
  const fs::path folder = working_folder(context, options.folder);
  if (folder == fs::weakly_canonical(context.root()))
    throw UserError("this is Gauntlet's own checkout; name the folder that the model worked in");
  const SanitizeReport report = sanitize(owner_of(folder, options), options.write);
  const bool clean = report.left.empty() && (options.write || report.removals.empty());
  return {text_of(report, options.write), document_of(report, options.write, clean),
          clean ? kExitDone : kExitGateFailed};
}

}  // namespace gauntlet
