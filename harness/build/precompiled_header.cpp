// SPDX-License-Identifier: Apache-2.0
#include "harness/build/precompiled_header.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>

#include "harness/build/build_cache.h"
#include "harness/build/build_folder.h"
#include "harness/build/build_steps.h"
#include "harness/core/error.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLargestHeader = std::uint64_t{256} << 20;  // 60 MiB with g++ 12
constexpr const char* kHeader = "subject_headers.h";
constexpr const char* kProduct = "subject_headers.h.gch";

std::string includes_of(const std::vector<std::string_view>& headers) {
  std::string text;
  for (const std::string_view header : headers) text += fmt::format("#include <{}>\n", header);
  return text;
}

bool includes(const SolutionSource& subject, std::string_view header) {
  const std::string words = fmt::format("<{}>", header);
  return std::any_of(subject.files.begin(), subject.files.end(), [&](const auto& file) {
    return file.content.find(words) != file.content.npos;
  });
}

CacheKey key_of(const Toolchain& tools, const std::string& headers) {
  return CacheKey("headers")
      .add_text("headers", headers)
      .add("flags", fmt::format("{}", fmt::join(tools.subject_flags, " ")))
      .add("compiler", fmt::format("{}: {}", tools.compiler().path, tools.compiler().version))
      .add_text("machine", tools.compiler().machine);
}

fs::path made(const Toolchain& tools, const std::string& headers, const fs::path& cache) {
  const BuildCache builds(cache / "builds");
  const CacheKey key = key_of(tools, headers);
  if (const auto built = builds.find(key)) return built->library;
  const BuildFolder folder;
  const BuildTerms terms{.limits = {.wall_seconds = 600, .cpu_seconds = 600}};
  BuildSteps steps(folder, terms);
  folder.put({{kHeader, headers}}, "");
  std::vector<std::string> command{tools.compiler().path};
  command.insert(command.end(), tools.subject_flags.begin(), tools.subject_flags.end());
  command.insert(command.end(),
                 {"-x", std::string(tools.language) + "-header", kHeader, "-o", kProduct});
  if (!steps.carry_out(command))
    throw Broken(OwnFault::compiler,
                 fmt::format("precompiling headers of the system: {}", steps.printed()));
  BuildRecord record;
  record.ok = true;
  record.compiler = tools.compiler().version;
  record.seconds = steps.seconds();
  return builds.keep(key, record, folder.take(kProduct, kLargestHeader)).library;
}

FirstHeader first_header(const Toolchain& tools, const std::string& headers,
                         const fs::path& cache) {
  if (headers.empty()) return {};
  // Once a process, and for those that it forks: to see that the file is whole takes as long as to
  // compile a small subject.
  static std::mutex mutex;
  static std::map<std::string, fs::path> known;
  const std::lock_guard lock(mutex);
  fs::path& precompiled = known[fs::absolute(cache).string() + key_of(tools, headers).digest()];
  std::error_code gone;
  if (precompiled.empty() || !fs::exists(precompiled, gone))
    precompiled = made(tools, headers, cache);
  return {headers, precompiled};
}

}  // namespace

std::string subject_headers(const SolutionSource& subject) {
  const auto& sets = toolchain(subject.device).subject_headers;
  std::vector<std::string_view> wanted;
  for (const std::string_view header : sets.back())
    if (includes(subject, header)) wanted.push_back(header);
  const auto has_all = [&](const std::vector<std::string_view>& set) {
    return std::all_of(wanted.begin(), wanted.end(), [&](std::string_view header) {
      return std::find(set.begin(), set.end(), header) != set.end();
    });
  };
  return includes_of(*std::find_if(sets.begin(), sets.end(), has_all));
}

FirstHeader first_header(const SolutionSource& subject, const fs::path& cache) {
  return first_header(toolchain(subject.device), subject_headers(subject), cache);
}

void make_first_headers(const Toolchain& tools, const fs::path& cache) {
  for (const auto& set : tools.subject_headers) first_header(tools, includes_of(set), cache);
}

}  // namespace gauntlet
