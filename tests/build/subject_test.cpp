// SPDX-License-Identifier: Apache-2.0
// Solutions of ours that are known to be right or wrong: compiled lightly, once for all purposes.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <set>

#include "harness/build/build_cache.h"
#include "harness/build/precompiled_header.h"
#include "harness/core/parallel.h"
#include "tests/build/bench.h"

using namespace gauntlet;
using gauntlet::test::Bench;
namespace fs = std::filesystem;

namespace {

/// Headers that are precompiled, one that is not, and a second file.
const std::string kLargestOfThree =
    "#include <algorithm>\n#include <regex>\n#include <vector>\n#include \"contract.h\"\n"
    "long half();\n"
    "long answer() { std::vector<long> all{1, half(), 3}; return *std::max_element(all.begin(), "
    "all.end()); }\n";
const std::string kHalf = "#include <cmath>\nlong half() { return std::lround(20.6); }\n";

SolutionSource subject(const std::string& answer) {
  SolutionSource source;
  source.files = {{"half.cpp", kHalf}, {"solution.cpp", answer}};
  return source;
}

/// What a library of ours answers.
long answer_of(const fs::path& library) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(loaded != nullptr, dlerror());
  const long answer = reinterpret_cast<long (*)()>(dlsym(loaded, "answer"))();
  dlclose(loaded);
  return answer;
}

}  // namespace

TEST_CASE("a subject becomes a library, and assembly text with a part for each file") {
  const Bench bench;
  const BuiltSolution built =
      build_subject(subject(kLargestOfThree), bench.challenge, bench.cache.path());
  REQUIRE_MESSAGE(built.record.ok, built.record.messages);
  CHECK(answer_of(built.library) == 21);
  const BuiltSolution text =
      build_assembly(subject(kLargestOfThree), bench.challenge, bench.cache.path());
  REQUIRE(text.record.ok);
  const std::string parts = read_file(text.library);
  CHECK(std::count(parts.begin(), parts.end(), kPartEnd) == 2);
}

TEST_CASE("a subject that does not compile, or lacks a function, says so") {
  const Bench bench;
  const BuiltSolution bad =
      build_subject(subject("#include \"contract.h\"\nlong answer() { ret; }\n"), bench.challenge,
                    bench.cache.path());
  CHECK_FALSE(bad.record.ok);
  CHECK_MESSAGE(bad.record.messages.find("solution.cpp:2") != std::string::npos,
                bad.record.messages);
  const BuiltSolution loose =
      build_subject(subject("long lost();\nextern \"C\" long answer() { return lost(); }\n"),
                    bench.challenge, bench.cache.path());
  CHECK_FALSE(loose.record.ok);
  CHECK_MESSAGE(loose.record.messages.find("lost") != std::string::npos, loose.record.messages);
}

TEST_CASE("many may build the same subject at once, and each build is kept once") {
  const Bench bench;
  constexpr std::size_t kBuilders = 8;
  std::vector<BuiltSolution> built(kBuilders);
  parallel_for(kBuilders, kBuilders, [&](std::size_t i) {
    built[i] = build_subject(subject(kLargestOfThree), bench.challenge, bench.cache.path());
  });
  std::set<fs::path> libraries;
  for (const BuiltSolution& one : built) {
    CHECK(one.record.ok);
    libraries.insert(one.library);
  }
  CHECK(libraries.size() == 1);
  std::size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(bench.cache.path() / "builds")) {
    if (entry.path() == builds_lock(bench.cache.path() / "builds")) continue;
    CHECK_MESSAGE(entry.path().filename().string().front() != '.', entry.path().string());
    ++kept;
  }
  CHECK(kept == 3);  // the headers, the assembly text, the library
}

TEST_CASE("before a subject stands the smallest set of headers that it finds all of its own in") {
  const auto before = [](const std::string& text) {
    SolutionSource source;
    source.files = {{"solution.cpp", text}};
    return subject_headers(source);
  };
  CHECK(before("#include <time.h>\nlong answer() { return 1; }\n").empty());
  const std::string values = before("#include <vector>\n");
  CHECK(values == before("#include <cmath>\n#include <time.h>\n"));
  CHECK(values.find("<vector>") != std::string::npos);
  CHECK(values.find("<thread>") == std::string::npos);
  const std::string all = before("#include <vector>\n#include <thread>\n");
  CHECK(all.starts_with(values));
  CHECK(all.find("<thread>") != std::string::npos);
}
