// SPDX-License-Identifier: Apache-2.0
// source_digest LIST ROOT ID DEVICE OUTPUT: writes OUTPUT, a source file with one SHA-256 over the
// files that LIST names, one path a line: what the verdicts of challenge ID on DEVICE depend on.
// Comments and formatting are left out, so that only a change that could change a verdict makes
// grades stale.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <vector>

#include "harness/core/digest.h"
#include "harness/core/files.h"
#include "harness/core/source_text.h"

namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string digest_of(const std::vector<std::string>& files, const fs::path& root) {
  gauntlet::Digest digest;
  for (const fs::path file : files) {
    const bool source = file.extension() == ".cpp" || file.extension() == ".h" ||
                        file.extension() == ".cu" || file.extension() == ".cuh";
    const std::string text = gauntlet::read_file(file);
    digest.add(file.lexically_relative(root).generic_string(),
               source ? gauntlet::significant_text(text) : text);
  }
  return digest.hex();
}

}  // namespace

int main(int count, char** words) try {
  if (count != 6) throw std::runtime_error("source_digest LIST ROOT ID DEVICE OUTPUT");
  const std::string digest = digest_of(lines_of(gauntlet::read_file(words[1])), words[2]);
  gauntlet::write_file(words[5],
                       fmt::format("namespace gauntlet::{0} {{\nextern const char k_{1}_digest[];\n"
                                   "const char k_{1}_digest[] = \"{2}\";\n}}\n",
                                   words[3], words[4], digest));
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return EXIT_FAILURE;
}
