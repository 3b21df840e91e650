#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <sys/stat.h>

#include "harness/build/solution.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFiles = 64;
constexpr std::uintmax_t kMostBytes = 1 << 20;
constexpr int kMostFolders = 4;  // below the solution's own

constexpr std::array<std::string_view, 5> kCode{".cpp", ".h", ".hpp", ".cu", ".cuh"};

[[noreturn]] void refuse(const fs::path& file, const std::string& rule) {
  throw UserError(fmt::format("{}: {}", printable(file.string(), 400), rule), 3);
}

bool is_code(const fs::path& file) {
  return std::find(kCode.begin(), kCode.end(), file.extension().string()) != kCode.end();
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

}  // namespace

std::string SolutionSource::digest() const {
  Digest digest;
  digest.add("device", name_of(device));
  for (const File& file : files) digest.add(file.name, file.content);
  if (claims) digest.add(kClaims, *claims);
  return digest.hex();
}

bool SolutionSource::has_tests() const {
  return std::any_of(files.begin(), files.end(),
                     [](const File& file) { return file.name == kTests; });
}

SolutionSource read_solution(const fs::path& folder) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(folder, error)))
    refuse(folder, "symbolic links are not followed");
  if (!fs::is_directory(folder, error)) refuse(folder, "is no folder");
  SolutionSource source;
  std::uintmax_t bytes = 0;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::end(entry); ++entry) {
    const fs::path file = entry->path();
    const fs::path relative = file.lexically_relative(folder);
    if (entry->is_symlink()) refuse(file, "symbolic links are not followed");
    check_name(file, relative);
    if (entry.depth() > kMostFolders)
      refuse(file, fmt::format("lies more than {} folders deep", kMostFolders));
    if (entry->is_directory()) continue;
    if (!entry->is_regular_file()) refuse(file, "is no regular file");
    const bool claims = relative == SolutionSource::kClaims;
    if (is_note(relative) && !claims) continue;
    if (!is_code(relative) && !claims)
      refuse(file,
             "is of a kind that a solution cannot hold; wanted: .cpp, .h, .hpp, .cu, .cuh, and "
             "beside them .md and claims.yaml");
    bytes += entry->file_size();
    if (bytes > kMostBytes)
      refuse(file, fmt::format("with it the solution holds more than {} KiB", kMostBytes >> 10));
    if (claims) {
      source.claims = read_file(file);  // never refused: a bad one is told beside the grade
      continue;
    }
    if (source.files.size() == kMostFiles)
      refuse(file, fmt::format("a solution holds at most {} files", kMostFiles));
    source.files.push_back({relative.generic_string(), read_file(file)});
    if (!is_text(source.files.back().content)) refuse(file, "is not UTF-8 text");
  }
  std::sort(source.files.begin(), source.files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const bool complete = std::any_of(source.files.begin(), source.files.end(),
                                    [](const auto& file) { return file.name == "solution.cpp"; });
  if (!complete) refuse(folder, "holds no solution.cpp, which is where a CPU solution starts");
  return source;
}

}  // namespace gauntlet
