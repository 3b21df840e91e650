// SPDX-License-Identifier: Apache-2.0
#include "harness/build/solution.h"

#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/build/compiler_messages.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/run_command.h"
#include "tests/build/bench.h"
#include "tests/support/text.h"

using namespace gauntlet;
using gauntlet::test::Bench;

namespace {

const char* const kGoodSolution = "#include \"contract.h\"\nlong answer() { return CONTRACT; }\n";

}  // namespace

TEST_CASE("a solution's claims are part of its digest and are not read before it is graded") {
  const Bench bench;
  bench.file("solution.cpp", kGoodSolution);
  const std::string silent = read_solution(bench.solution.path()).digest();
  bench.file("detail/claims.yaml", "saved_bytes: 8");  // not beside solution.cpp: a note
  CHECK(read_solution(bench.solution.path()).digest() == silent);
  bench.file("claims.yaml", "\xff: [");
  const SolutionSource claiming = read_solution(bench.solution.path());
  CHECK(claiming.claims == "\xff: [");
  CHECK(claiming.digest() != silent);
  CHECK(bench.build().record.ok);
  bench.file("claims.yaml", std::string(2 << 20, '#'));
  CHECK(contains(bench.refusal(), "claims.yaml: with it the solution holds more than"));
}

TEST_CASE("a solution is its C++ files, by name, without the notes beside them") {
  const Bench bench;
  bench.file("solution.cpp", kGoodSolution);
  bench.file("detail/tiles.h", "");
  bench.file("README.md", "notes");
  bench.file("claims.yaml", "{}");
  bench.file("tests.cpp", "int main() {}");
  const SolutionSource source = read_solution(bench.solution.path());
  REQUIRE(source.files.size() == 3);
  CHECK(source.files[0].name == "detail/tiles.h");
  CHECK(source.files[1].name == "solution.cpp");
  CHECK(source.files[1].content == kGoodSolution);
  CHECK(source.files[2].name == "tests.cpp");
  CHECK(source.device == Device::cpu);
  const std::string before = source.digest();
  bench.file("detail/tiles.h", "\n");
  CHECK(read_solution(bench.solution.path()).digest() != before);
}

TEST_CASE("a folder that is no solution is refused, with the file and the rule") {
  const auto refusal_with = [](auto prepare) {
    const Bench bench;
    bench.file("solution.cpp", kGoodSolution);
    prepare(bench);
    return bench.refusal();
  };
  CHECK(contains(refusal_with([](const Bench& bench) {
                   std::filesystem::remove(bench.solution.path() / "solution.cpp");
                 }),
                 "holds no solution.cpp"));
  CHECK(contains(refusal_with([](const Bench& bench) {
                   std::filesystem::create_symlink("/etc/passwd", bench.solution.path() / "x.h");
                 }),
                 "x.h: symbolic links are not followed"));
  CHECK(contains(refusal_with([](const Bench& bench) {
                   std::filesystem::create_directory_symlink("/etc", bench.solution.path() / "etc");
                 }),
                 "etc: symbolic links are not followed"));
  CHECK(contains(refusal_with([](const Bench& bench) { bench.file("fast.o", "ELF"); }),
                 "fast.o: is of a kind that a solution cannot hold"));
  CHECK(contains(refusal_with([](const Bench& bench) { bench.file("tile.cuh", ""); }),
                 "tile.cuh: is of a kind that a solution cannot hold"));
  CHECK(
      contains(refusal_with([](const Bench& bench) { bench.file("a$(b).cpp", ""); }), "names are"));
  CHECK(contains(refusal_with([](const Bench& bench) { bench.file("-fplugin.cpp", ""); }),
                 "names are"));
  CHECK(contains(refusal_with([](const Bench& bench) { bench.file(".hidden.cpp", ""); }),
                 "names are"));
  CHECK(contains(
      refusal_with([](const Bench& bench) { bench.file("big.h", std::string(256 << 10, ' ')); }),
      "more than 256 KiB"));
  CHECK(
      contains(refusal_with([](const Bench& bench) { bench.file("b.h", std::string("a\0b", 3)); }),
               "b.h: is not UTF-8 text"));
  CHECK(contains(refusal_with([](const Bench& bench) { bench.file("c.h", "caf\xE9 \n"); }),
                 "c.h: is not UTF-8 text"));
  CHECK(refusal_with([](const Bench& bench) {
          bench.file("d.h", "// caf\xC3\xA9 \xF0\x9F\x98\x80\n");
        }) == "taken");
  CHECK(contains(refusal_with([](const Bench& bench) {
                   for (int i = 0; i < 70; ++i) bench.file(fmt::format("f{}.h", i), "");
                 }),
                 "at most 64 files"));
  for (const char* name : {"pipe.h", "claims.yaml", "notes.md", "contract.h"})
    CHECK(contains(refusal_with([name](const Bench& bench) {
                     mkfifo((bench.solution.path() / name).c_str(), 0644);
                   }),
                   fmt::format("{}: is no regular file", name)));
  for (const char* name : {"contract.h", "Contract.h", "solution.cpp", "tests.cpp", "claims.yaml"})
    CHECK(contains(refusal_with([name](const Bench& bench) {
                     std::filesystem::remove(bench.solution.path() / name);
                     bench.file(std::string(name) + "/a.h", "");
                   }),
                   fmt::format("{}: is a folder, and its name is that of a file", name)));
  for (const char* name : {"two\nlines.h", "quo'te.h", "quo\"te.h", "back\\slash.h", "@args.cpp"})
    CHECK(contains(refusal_with([name](const Bench& bench) { bench.file(name, ""); }),
                   "names are made of"));
  CHECK(contains(
      refusal_with([](const Bench& bench) { bench.file(std::string(100, 'a') + ".h", ""); }),
      "at most 100 characters"));
  CHECK(contains(refusal_with([](const Bench& bench) { bench.file("a/b/c/d/e/f.h", ""); }),
                 "lies more than 4 folders deep"));
  CHECK(contains(refusal_with([](const Bench& bench) {
                   for (int i = 0; i < 1001; ++i)
                     std::filesystem::create_directory(bench.solution.path() /
                                                       fmt::format("d{}", i));
                 }),
                 "more than 1000 files and folders"));
}

TEST_CASE("a solution whose names are ours, or nearly, is built like any other") {
  const Bench bench;
  bench.file("solution.so/library.h", "#define ONE 1\n");
  bench.file("detail/contract.h", "#define TWO 2\n");
  bench.file("contract/contract.h/three.h", "#define THREE 3\n");
  bench.file("tests/tests.cpp/four.cpp", "int four() { return 4; }\n");
  const BuiltSolution built = bench.build(
      "#include \"solution.so/library.h\"\n#include \"detail/contract.h\"\n"
      "#include \"contract/contract.h/three.h\"\n#include \"contract.h\"\nint four();\n"
      "long answer() { return ONE + TWO + THREE + four() + CONTRACT; }\n");
  CHECK_MESSAGE(built.record.ok, built.record.messages);
}

TEST_CASE("a good solution becomes a library, with nothing to say about it") {
  const Bench bench;
  const BuiltSolution built = bench.build(kGoodSolution);
  CHECK(built.record.ok);
  CHECK(built.record.messages.empty());
  CHECK(built.record.warnings == 0);
  CHECK(built.record.seconds > 0);
  CHECK(contains(built.record.compiler, "g++"));
  CHECK(contains(built.record.flags, "-O3 -march=native"));
  CHECK(read_file(built.library).starts_with("\177ELF"));
}

TEST_CASE("the second build of the same thing is read from the cache, and of another is not") {
  const Bench bench;
  const BuiltSolution first = bench.build(kGoodSolution);
  const auto start = std::chrono::steady_clock::now();
  const BuiltSolution again = bench.build();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(50));
  CHECK(again.library == first.library);
  CHECK(again.record.seconds == first.record.seconds);
  write_file(bench.challenge.folder / "contract.h",
             "#pragma once\nextern \"C\" long answer(void);\n#define CONTRACT 8\n");
  CHECK(bench.build().library != first.library);
}

TEST_CASE("a damaged library in the cache is built anew") {
  const Bench bench;
  const BuiltSolution first = bench.build(kGoodSolution);
  const std::string good = read_file(first.library);
  write_file(first.library, "something else");
  CHECK(read_file(bench.build().library) == good);
}

TEST_CASE("several files and folders are compiled together, the submission's tests are not") {
  const Bench bench;
  bench.file("detail/seven.cpp", "#include \"contract.h\"\nint seven() { return CONTRACT; }\n");
  bench.file("tests.cpp", "#error not part of the library\n");
  bench.file("contract.h", "#error not the challenge's\n");
  CHECK(bench.build("int seven();\nextern \"C\" long answer() { return seven(); }\n").record.ok);
}

TEST_CASE("warnings are counted, and do not keep a solution from being built") {
  const Bench bench;
  const BuiltSolution built = bench.build(
      "extern \"C\" long answer() { int unused; unsigned u = 3; int i = -1;\n"
      "  return i < u; }\n");
  CHECK(built.record.ok);
  CHECK(built.record.warnings == 2);
  CHECK(contains(built.record.messages, "solution.cpp:"));
}

TEST_CASE("the first error is the first thing said, with the submission's file name") {
  const Bench bench;
  const BuiltSolution built = bench.build(
      "static int unused() { return 1; }\nextern \"C\" long answer() { return nothing; }\n");
  CHECK_FALSE(built.record.ok);
  CHECK(built.library.empty());
  CHECK(built.record.messages.starts_with("solution.cpp:2:"));
  CHECK(contains(built.record.messages.substr(0, built.record.messages.find('\n')),
                 "error: 'nothing'"));
  CHECK_FALSE(contains(built.record.messages, "/tmp/"));
  CHECK_FALSE(bench.build().record.ok);  // from the cache
}

TEST_CASE("a function that is declared and never defined does not build") {
  const Bench bench;
  const BuiltSolution built =
      bench.build("int seven();\nextern \"C\" long answer() { return seven(); }\n");
  CHECK_FALSE(built.record.ok);
  CHECK(contains(built.record.messages, "undefined reference to `seven()'"));
}

TEST_CASE("files of the machine do not come in through the compiler") {
  const ScratchFolder other("build-test-secret");
  chmod(other.path().c_str(), 0755);
  const std::string secret = (other.path() / "secret.h").string();
  write_file(secret, "the hidden answer\n");
  const std::string good = "\nextern \"C\" long answer() { return 1; }\n";
  for (const char* way : {"#include \"/etc/shadow\"", "#include \"/etc/passwd\"",
                          "#include \"/proc/self/environ\""}) {
    const BuiltSolution built = Bench().build(way + good);
    CHECK_FALSE(built.record.ok);
    CHECK_FALSE(contains(built.record.messages, "root:"));
  }
  for (const std::string& way :
       {fmt::format("#include \"{}\"", secret), fmt::format("asm(\".incbin \\\"{}\\\"\");", secret),
        fmt::format("asm(\".include \\\"{}\\\"\");", secret),
        fmt::format(
            "#if __has_include(\"{}\")\n#error it is there\n#else\n#error it is not\n#endif",
            secret)}) {
    const BuiltSolution built = Bench().build(way + good);
    CHECK_FALSE(built.record.ok);
    CHECK_FALSE(contains(built.record.messages, "hidden"));
    CHECK_FALSE(contains(built.record.messages, "it is there"));
  }
}

TEST_CASE("what lies below /usr and is no header, library or program of the compiler is shut") {
  for (const char* file : {"/usr/share/common-licenses/GPL-3", "/usr/lib/os-release",
                           "/usr/share/zoneinfo/UTC", "/usr/lib/locale/C.utf8/LC_CTYPE"}) {
    if (!std::filesystem::exists(file)) continue;
    const BuiltSolution built = Bench().build(fmt::format("asm(\".incbin \\\"{}\\\"\");\n", file) +
                                              "extern \"C\" long answer() { return 1; }\n");
    CHECK_MESSAGE(!built.record.ok, file);
  }
}

TEST_CASE("a folder of ours that a submission could read is told, with what to do about it") {
  const ScratchFolder folder("build-test-exposed");
  CHECK(why_readable(folder.path()).empty());
  for (const char* hidden : {"/usr/src/gauntlet", "/usr/local/src/gauntlet", "/opt/gauntlet", "/",
                             "/usr", "/home/a", "/usr/includes", "/usr/share/gauntlet"})
    CHECK_MESSAGE(why_readable(hidden).empty(), why_readable(hidden));
  for (const char* open : {"/usr/include/gauntlet", "/usr/lib/gcc/a", "/usr/bin/a", "/bin/a",
                           "/usr/lib/x86_64-linux-gnu/a/b", "/lib/x86_64-linux-gnu", "/lib64/a",
                           "/usr/include/../include/a"})
    CHECK_MESSAGE(contains(why_readable(open), "may read: put it elsewhere"), open);
  std::filesystem::create_directory_symlink("/usr/include", folder.path() / "link");
  CHECK(contains(why_readable(folder.path() / "link/a"), "/usr/include/a lies in /usr/include"));
}

TEST_CASE("code that keeps the compiler busy without end runs into a limit that can be named") {
  const ScratchFolder folder("build-test-endless");
  write_file(folder.path() / "a.cpp",
             "template <int n, int m> struct T {\n"
             "  static constexpr int v = T<n - 1, 2 * m>::v + T<n - 1, 2 * m + 1>::v;\n};\n"
             "template <int m> struct T<0, m> { static constexpr int v = m; };\n"
             "int answer() { return T<28, 0>::v; }\n");
  Limits limits;
  limits.cpu_seconds = 1;
  const CommandResult result =
      run_command({{"/usr/bin/g++", "-c", "a.cpp"}, folder.path()}, limits);
  CHECK(limit_in(read_output(result.output).plain) == "CPU time");
}

TEST_CASE(
    "code that eats the compiler's memory is told so, and not kept: another day may be better") {
  const Bench bench;
  const BuiltSolution built = bench.build(
      "asm(\".rept 2000000000\\nnop\\n.endr\");\n"
      "extern \"C\" long answer() { return 1; }\n");
  CHECK_FALSE(built.record.ok);
  CHECK(built.record.messages.starts_with("the compiler ran into its limit on memory"));
  CHECK_FALSE(std::filesystem::exists(bench.cache.path() / "builds"));
}

TEST_CASE("a library beyond all measure is not built") {
  const BuiltSolution built =
      Bench().build("char big[300000000] = {1};\nextern \"C\" long answer() { return big[5]; }\n");
  CHECK_FALSE(built.record.ok);
  CHECK(contains(built.record.messages, "limit on file size"));
}

TEST_CASE("limits are recognised in what the compiler says outside its diagnostics") {
  CHECK(
      limit_in("g++: internal compiler error: CPU time limit exceeded signal terminated program") ==
      "CPU time");
  CHECK_FALSE(limit_in("error: x").has_value());
}
