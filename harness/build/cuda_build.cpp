// SPDX-License-Identifier: Apache-2.0
#include "harness/build/cuda_build.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/build/clang_messages.h"
#include "harness/build/clang_silencing.h"
#include "harness/build/cuda_parts.h"
#include "harness/build/silencing.h"
#include "harness/core/files.h"
#include "harness/device/cuda_device.h"
#include "harness/worker/session.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLargestHalf = std::uint64_t{32} << 20;
constexpr std::uint64_t kLargestText = std::uint64_t{128} << 20;  // of a preprocessed file

bool is_ours(const std::string& file) {
  return file.starts_with(kCudaFolder);
}

}  // namespace

CudaBuild::CudaBuild(const SolutionSource& source, std::string contract, const BuildTerms& terms)
    : tools_(toolchain(source.device)),
      source_(source),
      contract_(std::move(contract)),
      terms_(terms),
      steps_(folder_, terms, tools_.compiler().folders),
      commands_(tools_, folder_.new_name(kCudaFolder)) {
  record_.compiler = tools_.compiler().version;
  record_.flags = tools_.flags_in_words(tools_);
}

void CudaBuild::run() {
  put_files();
  compilations_ = compilations();
  const auto compiles = [this](const Arguments& command) { return compile(command); };
  record_.ok =
      std::all_of(compilations_.begin(), compilations_.end(), compiles) && link() && take_halves();
  if (!record_.ok)
    steps_.require_working_machine({tools_.compiler().path, "-shared", "-fPIC", "-x", "c++"});
  record_.ok = record_.ok && is_accepted();
  if (record_.ok) look_for_silencers();
  finish_record(record_, said_, steps_);
}

void CudaBuild::put_files() {
  const CudaParts& parts = cuda_parts();
  folder_.put(source_.files, contract_);
  std::vector<SolutionSource::File> ours{{commands_.embedded(), "the kernels are not here"}};
  for (const auto& entry : fs::recursive_directory_iterator(parts.headers))
    if (entry.is_regular_file())
      ours.push_back(
          {commands_.headers() + "/" + entry.path().lexically_relative(parts.headers).string(),
           read_file(entry.path())});
  ours.push_back({commands_.runtime(), read_file(parts.runtime)});
  folder_.put(ours, contract_);
}

/// The device's half first: it says most of what is wrong.
std::vector<CudaBuild::Arguments> CudaBuild::compilations() {
  const std::string first(tools_.first_file);
  const auto object = [this] { return objects_.emplace_back(folder_.new_name("host.o")); };
  std::vector<Arguments> all{commands_.device(first, kernels_name_),
                             commands_.host(first, object())};
  for (const SolutionSource::File& file : source_.files)
    if (file.name != first && file.name != SolutionSource::kTests && tools_.compiles(file.name))
      all.push_back(commands_.beside(file.name, object()));
  return all;
}

bool CudaBuild::compile(const Arguments& command) {
  const bool good = steps_.carry_out(command);
  CompilerOutput said = read_clang_output(steps_.printed());
  // Clang assembles by itself: when it ends well it has said all that it says line by line.
  said_.garbled |= good && (steps_.cut() || !said.plain.empty());
  said_.plain += said.plain;
  std::erase_if(said.diagnostics, [](const Diagnostic& one) { return is_ours(one.file); });
  std::erase_if(said.included, [](const Included& one) { return is_ours(one.file); });
  add_new(said.diagnostics, said_.diagnostics);
  std::vector<Diagnostic> taken;
  add_taken_for_the_systems(said.included, taken);
  add_new(taken, said_.diagnostics);
  return good;
}

bool CudaBuild::link() {
  const bool good = steps_.carry_out(commands_.link(objects_, library_name_));
  said_.plain += steps_.printed();
  return good;
}

bool CudaBuild::take_halves() {
  library_ = folder_.take(library_name_, kLargestHalf);
  kernels_ = folder_.take(kernels_name_, kLargestHalf);
  if (!library_.empty() && !kernels_.empty()) return true;
  said_ = {.plain = fmt::format("clang left no two halves below {} MiB", kLargestHalf >> 20)};
  return false;
}

/// The PTX is a stranger's: a device process of its own looks at it.
bool CudaBuild::is_accepted() {
  DeviceConfig config;
  config.program = cuda_parts().device;
  config.walls = terms_.walls;
  config.patience = std::chrono::duration<double>(terms_.limits.wall_seconds);
  try {
    CudaDevice(config).load(kernels_);
    return true;
  } catch (const SolutionFailure& failure) {
    said_.diagnostics.push_back({"error", "", 0, 0, failure.what(), ""});
    record_.stopped = failure.verdict != Verdict::rejected;  // another machine may have more
    return false;
  }
}

void CudaBuild::look_for_silencers() {
  std::vector<Diagnostic> found;
  for (const Arguments& compilation : compilations_) {
    const std::string text = preprocessed(compilation);
    if (text.empty())
      found.push_back(
          {"warning", "", 0, 0, "cannot be searched for pragmas that silence clang", ""});
    add_new(silencing_pragmas(text), found);
  }
  const auto misspelt = with_misspelt_lines(source_.files, found);
  if (!std::equal(misspelt.begin(), misspelt.end(), source_.files.begin(),
                  [](const auto& a, const auto& b) { return a.content == b.content; })) {
    folder_.put(misspelt, contract_);
    for (const Arguments& compilation : compilations_) {
      preprocessed(compilation);
      add_new(line_directives(read_clang_output(steps_.printed())), found);
    }
  }
  steps_.forget_stop();  // no matter for the build, which is done
  add_new(found, said_.diagnostics);
}

/// What a compilation reads, by the same command; empty where that fails.
std::string CudaBuild::preprocessed(Arguments command) {
  const std::string name = folder_.new_name("preprocessed");
  command.back() = name;
  command.insert(command.end(), {"-E", "-ferror-limit=0"});
  const bool good = steps_.carry_out(command);
  const std::string text = folder_.without_our_names(folder_.take(name, kLargestText));
  std::error_code ignored;
  fs::remove(folder_.path() / name, ignored);
  return good ? text : "";
}

}  // namespace gauntlet
