// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/build/solution.h"
#include "harness/build/toolchain.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFiles = 64;
// A book in the text would train a model by itself.
constexpr std::uintmax_t kMostBytes = 256 << 10;
constexpr int kMostFolders = 4;     // below the solution's own
constexpr int kMostEntries = 1000;  // notes and empty folders as well

[[noreturn]] void refuse(const fs::path& file, const std::string& rule) {
  throw UserError(fmt::format("{}: {}", one_line(file.string(), 400), rule),
                  kExitInvalidSubmission);
}

/// What lies beside the code, is meant to, and is not compiled.
bool is_note(const fs::path& file) {
  return file.extension() == ".md" || file.filename() == SolutionSource::kClaims;
}

/// Every part of a name may reach a compiler's command line: letters that mean something to a
/// shell, and a leading '-' or '.', are not taken.
void check_name(const fs::path& shown, const fs::path& relative) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  for (const fs::path& part : relative) {
    const std::string name = part.string();
    if (name.empty() || name.size() > 100 || name[0] == '-' || name[0] == '.' ||
        !std::all_of(name.begin(), name.end(), plain))
      refuse(shown,
             "names are made of letters, digits, '_', '-' and '.', start with none of the last "
             "two, and are at most 100 characters long");
  }
}

/// UTF-8 without NUL. Looks at the shape of every character, which is what tells text from
/// binaries.
bool is_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    if (first == 0 || (first >= 0x80 && first < 0xC2) || first > 0xF4) return false;
    for (int more = (first >= 0xC2) + (first >= 0xE0) + (first >= 0xF0); more > 0; --more)
      if (i == text.size() || (static_cast<unsigned char>(text[i++]) & 0xC0) != 0x80) return false;
  }
  return true;
}

/// Nothing of ours can be put where a folder has the name, and a solution means a file by it.
bool is_name_of_file(const fs::path& relative, const Toolchain& tools) {
  std::string name = relative.string();
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name == "contract.h" || name == tools.first_file || name == SolutionSource::kTests ||
         name == SolutionSource::kClaims;
}

/// Reads a folder that somebody else filled, and may still be filling.
class Reader {
 public:
  Reader(const fs::path& folder, SolutionSource& source)
      : folder_(folder), source_(source), tools_(toolchain(source.device)) {}

  void read_all() {
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(folder_, error)))
      refuse(folder_, "symbolic links are not followed");
    if (!fs::is_directory(folder_, error)) refuse(folder_, "is no folder");
    fs::recursive_directory_iterator entry(folder_, error);
    int entries = 0;
    for (; !error && entry != fs::end(entry); entry.increment(error)) {
      if (++entries > kMostEntries)
        refuse(folder_, fmt::format("holds more than {} files and folders", kMostEntries));
      take(entry->path(), entry.depth());
    }
    if (error)
      refuse(entry == fs::end(entry) ? folder_ : entry->path(),
             fmt::format("a folder in it cannot be read: {}", error.message()));
  }

 private:
  void take(const fs::path& file, int depth) {
    const fs::path relative = file.lexically_relative(folder_);
    std::error_code error;
    const fs::file_status status = fs::symlink_status(file, error);
    if (fs::is_symlink(status)) refuse(file, "symbolic links are not followed");
    check_name(file, relative);
    if (depth > kMostFolders)
      refuse(file, fmt::format("lies more than {} folders deep", kMostFolders));
    if (fs::is_directory(status)) {
      if (is_name_of_file(relative, tools_))
        refuse(file, "is a folder, and its name is that of a file");
      return;
    }
    if (!fs::is_regular_file(status)) refuse(file, "is no regular file");
    const bool claims = relative == SolutionSource::kClaims;
    if (is_note(relative) && !claims) return;
    if (relative.extension() == ".cu" && relative != tools_.first_file)
      refuse(file, tools_.device == Device::cuda
                       ? "a CUDA solution has one .cu file, solution.cu: what it is to include is "
                         "a .cuh file"
                       : "a solution for the CPU holds no CUDA source, and none is left out "
                         "silently: a CUDA solution lies in a folder of its own, ID@cuda");
    if (!tools_.is_code(relative.extension().string()) && !claims)
      refuse(file, fmt::format(
                       "is of a kind that a solution cannot hold; wanted: {}, {}, and beside them "
                       ".md and claims.yaml",
                       fmt::join(tools_.compiled, ", "), fmt::join(tools_.included, ", ")));
    std::string content = content_of(file);
    if (claims) {
      source_.claims = std::move(content);  // never refused: a bad one is told beside the grade
      return;
    }
    if (source_.files.size() == kMostFiles)
      refuse(file, fmt::format("a solution holds at most {} files", kMostFiles));
    if (!is_text(content)) refuse(file, "is not UTF-8 text");
    source_.files.push_back({relative.generic_string(), std::move(content)});
  }

  /// Bounded by what the whole solution may still hold: a file may grow after it was looked at.
  std::string content_of(const fs::path& file) {
    const std::uintmax_t left = kMostBytes - bytes_;
    std::error_code error;
    if (const auto size = fs::file_size(file, error); !error && size > left)
      refuse(file, fmt::format("with it the solution holds more than {} KiB", kMostBytes >> 10));
    try {
      std::string content = read_file(file, {left, false});
      bytes_ += content.size();
      return content;
    } catch (const UserError& fault) {
      throw UserError(one_line(fault.what()), kExitInvalidSubmission);
    }
  }

  const fs::path& folder_;
  SolutionSource& source_;
  const Toolchain& tools_;
  std::uintmax_t bytes_ = 0;
};

}  // namespace

std::string SolutionSource::digest() const {
  Digest digest;
  digest.add("device", name_of(device));
  for (const File& file : files) digest.add(file.name, file.content);
  if (claims) digest.add(kClaims, *claims);
  return digest.hex();
}

std::vector<FileDigest> SolutionSource::file_digests() const {
  std::vector<FileDigest> digests;
  for (const File& file : files) digests.push_back({file.name, sha256(file.content)});
  if (claims) digests.push_back({std::string(kClaims), sha256(*claims)});
  return digests;
}

bool SolutionSource::has_tests() const {
  return std::any_of(files.begin(), files.end(),
                     [](const File& file) { return file.name == kTests; });
}

Device device_of(const fs::path& folder) {
  std::error_code error;
  const bool cpu = fs::exists(folder / toolchain(Device::cpu).first_file, error);
  const bool cuda = fs::exists(folder / toolchain(Device::cuda).first_file, error);
  if (cpu && cuda)
    refuse(folder,
           fmt::format("holds {} and {}, and a folder is one solution: put the CUDA solution into "
                       "{}@cuda beside it",
                       toolchain(Device::cpu).first_file, toolchain(Device::cuda).first_file,
                       folder.filename().string()));
  return cuda ? Device::cuda : Device::cpu;
}

SolutionSource read_solution(const fs::path& folder) {
  SolutionSource source;
  source.device = device_of(folder);
  Reader(folder, source).read_all();
  std::sort(source.files.begin(), source.files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const std::string_view first_file = toolchain(source.device).first_file;
  const bool complete = std::any_of(source.files.begin(), source.files.end(),
                                    [&](const auto& file) { return file.name == first_file; });
  if (!complete)
    refuse(folder, fmt::format("holds no {}, which is where a CPU solution starts, and no {}, "
                               "which is where a CUDA solution does",
                               first_file, toolchain(Device::cuda).first_file));
  return source;
}

}  // namespace gauntlet
