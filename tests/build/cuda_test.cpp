// SPDX-License-Identifier: Apache-2.0
// CUDA solutions: which folders are one, what they are made into, and what is said of them.
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>

#include "harness/build/cuda_compiler.h"
#include "tests/build/bench.h"

using namespace gauntlet;
using gauntlet::test::Bench;

namespace {

const std::string kKernel = R"(#include "contract.h"
__global__ void fill(float* y) { y[threadIdx.x] = CONTRACT; }
extern "C" long answer(void) {
  fill<<<1, 32>>>(nullptr);
  return cudaGetLastError();
}
)";
constexpr int kKernelLines = 6;

/// With a clang; without one the test is skipped, see tests/device/device_fixture.h.
struct CudaBench : Bench {
  CudaBench() {
    if (!find_cuda_compiler()) FAIL(kNoCudaCompiler, "; this test is skipped");
  }
  BuiltSolution build_cuda(const std::string& source) const {
    file("solution.cu", source);
    return build();
  }
};

bool says(const BuiltSolution& built, const std::string& words) {
  return built.record.messages.find(words) != std::string::npos;
}

void check_one_warning(const std::string& before, const std::string& words) {
  const BuiltSolution built = CudaBench().build_cuda(before + "\n" + kKernel);
  INFO(before, "\n", built.record.messages);
  CHECK(built.record.ok);
  CHECK(built.record.warnings == 1);
  CHECK(says(built, words));
}

}  // namespace

TEST_CASE("the first file tells the device, and one folder is one solution") {
  Bench bench;
  bench.file("solution.cu", kKernel);
  bench.file("tiles.cuh", "#pragma once\n");
  CHECK(read_solution(bench.solution.path()).device == Device::cuda);
  bench.file("more.cu", kKernel);
  CHECK(bench.refusal().find("has one .cu file, solution.cu") != std::string::npos);
  std::filesystem::remove(bench.solution.path() / "more.cu");
  bench.file("solution.cpp", "");
  CHECK(bench.refusal().find("@cuda beside it") != std::string::npos);
  std::filesystem::remove(bench.solution.path() / "solution.cu");
  CHECK(bench.refusal().find("tiles.cuh: is of a kind") != std::string::npos);
  bench.file("more.cu", kKernel);
  std::filesystem::remove(bench.solution.path() / "tiles.cuh");
  CHECK(bench.refusal().find("folder of its own, ID@cuda") != std::string::npos);
}

TEST_CASE("a CUDA solution is a library and kernels, made once and the same each time") {
  const CudaBench bench;
  bench.file("tiles.cuh", "#pragma once\n#define TILE 8\nlong beside();\n");
  bench.file("beside.cpp", "#include \"tiles.cuh\"\nlong beside() { return TILE; }\n");
  bench.file("tests.cpp", "no part of it");
  const BuiltSolution built =
      bench.build_cuda("#include \"tiles.cuh\"\nlong both() { return beside(); }\n" + kKernel);
  INFO(built.record.messages);
  REQUIRE(built.record.ok);
  CHECK(built.record.warnings == 0);
  CHECK(built.record.messages.empty());
  const std::string kernels = read_file(built.kernels), library = read_file(built.library);
  CHECK(kernels.find(".entry") != std::string::npos);
  CHECK(kernels.find("tiles.cuh") == std::string::npos);  // no code of it

  const auto made = std::filesystem::last_write_time(built.kernels);
  CHECK(bench.build().library == built.library);
  BuiltSolution host_alone = built;
  host_alone.kernels.clear();
  CHECK(built.digest() != host_alone.digest());  // a receipt is of the kernels as well
  CHECK(std::filesystem::last_write_time(bench.build().kernels) == made);
  write_file(built.kernels, "damaged");
  CHECK(read_file(bench.build().kernels) == kernels);

  const ScratchFolder elsewhere("build-test-cache");
  const BuiltSolution again =
      build_solution(read_solution(bench.solution.path()), bench.challenge, elsewhere.path());
  CHECK(read_file(again.kernels) == kernels);
  CHECK(read_file(again.library) == library);
}

TEST_CASE("a CUDA solution without a kernel, and one whose kernels are of no linkage") {
  CHECK(CudaBench()
            .build_cuda("#include \"contract.h\"\nlong answer(void) { return 1; }\n")
            .record.ok);
  const BuiltSolution built = CudaBench().build_cuda(
      "namespace { __device__ int n; __global__ void k() { ++n; } }\n"
      "extern \"C\" long answer(void) { k<<<1, 1>>>(); return cudaGetLastError(); }\n");
  CHECK_MESSAGE(built.record.ok, built.record.messages);
}

TEST_CASE("what does not compile, link or execute is told with its line") {
  const BuiltSolution wrong = CudaBench().build_cuda(kKernel + "int n = unknown;\n");
  CHECK_FALSE(wrong.record.ok);
  CHECK(wrong.kernels.empty());
  CHECK(says(wrong, "solution.cu:" + std::to_string(kKernelLines + 1) +
                        ":9: error: use of undeclared identifier 'unknown'"));
  const BuiltSolution lost =
      CudaBench().build_cuda(kKernel + "long lost();\nlong calls() { return lost(); }\n");
  CHECK_FALSE(lost.record.ok);
  CHECK(says(lost, "undefined reference to `lost()'"));
  const BuiltSolution foreign =
      CudaBench().build_cuda(kKernel + "__global__ void k() { asm volatile(\"brkpt;\"); }\n");
  CHECK_FALSE(foreign.record.ok);
  INFO(foreign.record.messages);
  CHECK(says(foreign, "error: the kernels cannot be executed: "));
  CHECK(says(foreign, "brkpt"));
  CHECK(says(foreign, "solution.cu:" + std::to_string(kKernelLines + 1)));
  const BuiltSolution texture = CudaBench().build_cuda("#include <cub/cub.cuh>\n" + kKernel);
  CHECK(says(texture, "solution.cu:1:10: fatal error: 'cub/cub.cuh' file not found"));
}

TEST_CASE("a build that meets a limit is stopped, and not kept") {
  CudaBench bench;
  bench.terms.limits.wall_seconds = 0.01;
  const BuiltSolution stopped = bench.build_cuda(kKernel);
  CHECK_FALSE(stopped.record.ok);
  CHECK(stopped.record.stopped);
  CHECK(says(stopped, "the compiler was stopped"));
  bench.terms = {};
  CHECK(bench.build().record.ok);
}

TEST_CASE("warnings of both halves count, once each") {
  check_one_warning(
      "static __device__ int twice(int n) { int unused; return 2 * n; }\n"
      "__global__ void k(int* y) { *y = twice(*y); }",
      "solution.cu:1:42: warning: unused variable 'unused' [-Wunused-variable]");
  check_one_warning("#ifdef __CUDA_ARCH__\n__device__ int n(int a) { return 1; }\n#endif",
                    "solution.cu:2:22: warning: unused parameter 'a' [-Wunused-parameter]");
  check_one_warning("#ifndef __CUDA_ARCH__\nint n(int a) { return 1; }\n#endif",
                    "unused parameter 'a' [-Wunused-parameter]");
}

TEST_CASE("nothing silences clang unseen") {
  const std::string bad = "\nstatic int bad() { int unused; return 0; }\nint n = bad();\n";
  const std::string ignored = "diagnostic ignored \"-Wunused-variable\"";
  for (const std::string& silence : std::initializer_list<std::string>{
           "#pragma GCC " + ignored,
           "#pragma clang " + ignored,
           "# /* a */ pragma clang /* c */ " + ignored,
           "_Pragma(\"clang diagnostic ignored \\\"-Wunused-variable\\\"\")",
           "#define S(x) #x\n#define P(x) _Pragma(S(x))\nP(GCC " + ignored + ")",
           "#ifdef __CUDA_ARCH__\n#pragma clang " + ignored + "\n#endif",
           "#line 1 \"/usr/include/x.h\"",
           "# 1 \"solution.cu\" 3",
       }) {
    const BuiltSolution built = CudaBench().build_cuda(silence + bad + kKernel);
    INFO(silence, "\n", built.record.messages);
    CHECK(built.record.ok);
    CHECK(built.record.warnings > 0);
  }
  for (const char* header : {"#pragma GCC system_header", "#pragma clang system_header"}) {
    const CudaBench bench;
    bench.file("bad.h", header + bad);
    const BuiltSolution built = bench.build_cuda("#include \"bad.h\"\n" + kKernel);
    INFO(std::string(header), "\n", built.record.messages);
    CHECK(built.record.warnings > 0);
  }
  // What only looks like one.
  const BuiltSolution honest = CudaBench().build_cuda("/*\n# 1 pass over the rows\n*/\n" + kKernel);
  CHECK_MESSAGE(honest.record.warnings == 0, honest.record.messages);
}
