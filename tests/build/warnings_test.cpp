// SPDX-License-Identifier: Apache-2.0
// A warning is the submission's when its place is; and what keeps the compiler from warning is one.
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>

#include "harness/build/compiler_messages.h"
#include "harness/sandbox/file_view.h"
#include "harness/sandbox/namespaces.h"
#include "tests/build/bench.h"
#include "tests/support/text.h"

using namespace gauntlet;
using gauntlet::test::Bench;
using gauntlet::test::check_clean;

namespace {

const std::string kBad = "static int bad() { int unused; return 0; }\n";
const std::string kAnswer = "extern \"C\" long answer() { return 1; }\n";
const std::string kBadAnswer = kBad + "extern \"C\" long answer() { return bad(); }\n";

void check_warned(const Bench& bench, const std::string& source) {
  const BuiltSolution built = bench.build(source);
  CHECK_MESSAGE(built.record.ok, source << built.record.messages);
  CHECK_MESSAGE(built.record.warnings > 0, source);
}

}  // namespace

TEST_CASE("nothing silences the compiler unseen") {
  const std::string ignored = "GCC diagnostic ignored \"-Wunused-variable\"";
  const std::string quoted = "\"GCC diagnostic ignored \\\"-Wunused-variable\\\"\"";
  const std::string string_of = "#define S(x) #x\n#define P(x) _Pragma(S(x))\n";
  for (const std::string& silence : std::initializer_list<std::string>{
           "#pragma " + ignored,
           "# /* a */ pragma /* b */ GCC /* c */ diagnostic ignored \"-Wunused-variable\"",
           "%:pragma " + ignored,
           "#pra\\\ngma GCC diag\\\nnostic ignored \"-Wunused-variable\"",
           "/* a\n*/ #pragma " + ignored,
           "_Pragma(" + quoted + ")",
           "_Pragma(L" + quoted + ")",
           string_of + "P(" + ignored + ")",
           string_of + "#define Q(a, b) P(GCC a##b ignored \"-Wunused-variable\")\nQ(diag, nostic)",
           "#define J(a, b) a##b\nJ(_Pra, gma)(" + quoted + ")",
           "#define _PSTL_PAR_BACKEND_SERIAL\n#include <pstl/pstl_config.h>\n_PSTL_PRAGMA(" +
               ignored + ")",
           // Macros of poisoned names, which would hide the rest from who poisons them.
           "#define diagnostic\n#ifdef diagnostic\n#pragma " + ignored + "\n#endif",
           "#define GCC\n#ifdef GCC\n#pragma " + ignored + "\n#endif",
           "#define /*\n*/ GCC\n#if defined /*\n*/ GCC\n#pragma " + ignored + "\n#endif",
           "#pragma push_macro(\"GCC\")\n#pragma pop_macro(\"GCC\")\n#pragma " + ignored,
           "#if __has_include(\"contract.h\")\n#pragma " + ignored + "\n#endif",
       })
    check_warned(Bench(), silence + "\n" + kBadAnswer);
}

TEST_CASE("nothing gives a warning another place, or calls a file the system's") {
  for (const std::string& line : std::initializer_list<std::string>{
           "#line 1 \"/usr/include/x.h\"",
           "# 1 \"/usr/include/x.h\"",
           "# 1 \"solution.cpp\" 3",
           "#  line  1 \"/usr/include/x.h\"",
           "#li\\\nne 1 \"/usr/include/x.h\"",
           "# \\\n1 \"/usr/include/x.h\" 3",
           "%: line 1 \"/usr/include/x.h\"",
           "/* a */ # /* b */ line 1 \"/usr/include/x.h\"",
           "# /*\n*/ 1 \"solution.cpp\" 3",
           "#define N 1 \"/usr/include/x.h\"\n#line N",
           "# 1 \"/usr/lib/gcc/x86_64-linux-gnu/12/include/avx512fintrin.h\" 1 3",
       })
    check_warned(Bench(), line + "\n" + kBadAnswer);
  check_warned(Bench(), "\xEF\xBB\xBF#line 1 \"/usr/include/x.h\"\n" + kBadAnswer);

  for (const char* header :
       {"#pragma GCC system_header\n", "_Pragma(\"GCC system_header\")\n", "# 2 \"bad.h\" 3\n"}) {
    const Bench bench;
    bench.file("bad.h", header + kBad);
    check_warned(bench, "#include \"bad.h\"\n" + kAnswer + "int n = bad();\n");
  }
}

TEST_CASE("a silencer cannot tell the search for it from the compilation") {
  const std::string silence = "\n#pragma GCC diagnostic ignored \"-Wunused-variable\"\n";
  std::vector<std::string> conditions{
      // Known to a compiler that goes on behind the preprocessor, and to no other.
      "#ifdef __GCC_HAVE_DWARF2_CFI_ASM", "#if __COUNTER__ == 0", "#if __INCLUDE_LEVEL__ == 0"};
  for (int fd = 0; fd < 8; ++fd)
    for (const char* how :
         {"#if __has_include(\"/proc/self/fd/{}\")", "#if !__has_include(\"/proc/self/fd/{}\")",
          "#if __has_include(\"/dev/fd/{}\")", "#if !__has_include(\"/dev/fd/{}\")"})
      conditions.push_back(fmt::format(fmt::runtime(how), fd));
  for (const bool mounts : {true, false})  // without, a compiler sees /proc
    for (const std::string& condition : conditions) {
      Bench bench;
      bench.terms.walls.mounts = mounts;
      const BuiltSolution built = bench.build(condition + silence + "#endif\n" + kBadAnswer);
      // A build that is refused hides nothing either.
      CHECK_MESSAGE((!built.record.ok || built.record.warnings > 0), condition);
    }
}

TEST_CASE("files that are alike only in the search are not taken for one by #pragma once") {
  const std::string silencer =
      "#ifdef GO\n#pragma GCC diagnostic ignored \"-Wunused-variable\"\n#endif\n";
  const auto header = [&](const char* word) {
    return fmt::format("#pragma once\n#if 0\n#{} 5\n#endif\n", word) + silencer;
  };
  Bench bench;
  bench.file("a.h", header("line"));
  bench.file("b.h", header("kine"));
  CHECK(bench.build("#include \"a.h\"\n#define GO\n#include \"b.h\"\n" + std::string(kBadAnswer))
            .record.warnings > 0);
}

TEST_CASE("the search goes on behind a source that includes itself or a copy of itself") {
  const std::string twice =
      "#ifndef AGAIN\n#define AGAIN\n#include SELF\n"
      "#ifndef SEEN\n#pragma GCC diagnostic ignored \"-Wunused-variable\"\n#endif\n" +
      kBadAnswer + "#else\n#define SEEN\n#endif\n";
  check_warned(Bench(), "#define SELF \"solution.cpp\"\n" + twice);
  // #pragma once holds for files of the same text, time and size as well.
  const Bench bench;
  const std::string once = "#pragma once\n#define SELF \"copy.h\"\n" + twice;
  bench.file("copy.h", once);
  check_warned(bench, once);
}

TEST_CASE("a header that the system's include by a name of their own is still the submission's") {
  for (const char* condition : {"#if 1\n", "#ifdef __GCC_HAVE_DWARF2_CFI_ASM\n",
                                "#if !__has_include(\"/proc/self/fd/3\")\n"}) {
    const Bench bench;
    bench.file("linux/stat.h", kBad + "#include_next <linux/stat.h>\n");
    check_warned(bench, std::string(condition) + "#include <sys/stat.h>\n#endif\n" + kAnswer +
                            "int n = bad();\n");
  }
}

TEST_CASE("a header of the submission's does not take the place of one of the system's") {
  const Bench bench;
  bench.file("bits/stl_pair.h", "#error not the system's\n");
  bench.file("math.h", "#error not the system's\n");
  check_clean(bench, "#include <cmath>\n#include <utility>\n" + kAnswer);
}

TEST_CASE("a macro of the system's in a header of the submission's is right code") {
  Bench bench;
  bench.file("limits_of.h",
             "#include <cmath>\n#include <cstdint>\n"
             "inline double most() { return INFINITY + INT64_MAX; }\n");
  check_clean(bench,
              "#include \"limits_of.h\"\n"
              "extern \"C\" long answer() { return most() > 0 ? INT64_C(1) : 0; }\n");
}

TEST_CASE("a header that is named through /proc is still the submission's") {
  for (const bool mounts : {true, false}) {
    Bench bench;
    bench.terms.walls.mounts = mounts;
    bench.file("all.h", kBadAnswer);
    const BuiltSolution built = bench.build("#include \"/proc/self/cwd/all.h\"\n");
    CHECK((!built.record.ok || built.record.warnings == 2));  // the warning, and the way to it
  }
}

TEST_CASE("a header that is named by where it was handed in is still the submission's") {
  for (const bool walls : {true, false}) {  // without, a compiler sees all files
    Bench bench;
    bench.terms.walls.mounts = bench.terms.walls.landlock = walls;
    bench.file("all.h", kBadAnswer);
    std::filesystem::permissions(bench.solution.path(), std::filesystem::perms(0755));
    const auto path = std::filesystem::canonical(bench.solution.path()) / "all.h";
    const BuiltSolution built = bench.build("#include \"" + path.string() + "\"\n");
    if (!walls) CHECK_MESSAGE(built.record.ok, built.record.messages);
    CHECK((!built.record.ok || built.record.warnings == 2));  // the warning, and the way to it
  }
}

TEST_CASE("a compiler with files of its own has no /proc and no descriptors to ask about") {
  if (!why_no_namespaces().empty() || !why_no_file_view().empty()) {
    MESSAGE("skipped: no mount namespaces here");
    return;
  }
  for (const char* path : {"/proc/self/status", "/proc/self/fd/0", "/proc/self/cwd/solution.cpp",
                           "/dev/fd/0", "/dev/stdin", "/dev/zero", "/sys/kernel"})
    check_clean(Bench(),
                fmt::format("#if __has_include(\"{}\")\n#error seen\n#endif\n", path) + kAnswer);
}

TEST_CASE("warnings behind more text than is kept are counted") {
  std::string notes;
  for (int i = 0; i < 2000; ++i)
    notes += "#pragma message \"some sixty bytes of text, or a few more\"\n";
  const Bench bench;
  check_warned(bench, notes + kBadAnswer);
  CHECK(contains(bench.build().record.messages.substr(0, 200), "unused variable 'unused'"));
}

TEST_CASE("a source that prints like the compiler takes no warning away") {
  for (const char* printed : {"[]", "[", "[{}]", "]", "{"})
    check_warned(Bench(), std::string("asm(\".print \\\"") + printed + "\\\"\");\n" + kBadAnswer);
  // The assembler writes to a pipe in blocks: so much text ends a block within a line.
  std::string code;
  for (int i = 0; i < 3000; ++i)
    code += fmt::format("int f{0}(int a) {{ return a * {0} + a / {1}; }}\n", i, i + 3);
  for (const std::size_t length : {4096, 5000, 70000})
    check_warned(Bench(),
                 "asm(\".print \\\"" + std::string(length, '{') + "\\\"\");\n" + kBadAnswer + code);
}

TEST_CASE("right code is blamed neither for what the system's headers do nor for what it says") {
  for (const std::string& fine : {
           std::string("#pragma message \"built for speed\""),
           std::string("#pragma message \"a warning: of nothing, a.h:1:2: warning: of less\""),
           std::string(
               "// #line 3 \"x\"\n/*\n#line 4\n# 5 \"x\" 3\n#pragma GCC diagnostic ignored\n*/"),
           std::string(
               "const char* text = R\"(\n#line 7\n# 3 \"x\"\n#pragma GCC system_header\n)\";"),
           std::string("#if 0\n#line 3\n#pragma GCC diagnostic ignored \"-Wall\"\n#endif"),
           std::string("#define S(line) #line\nconst char* s = S(a);"),
           std::string("#define S(line) \\\n  #line\nconst char* s = S(a);"),
           std::string("int diagnostic = 1, system_header = 2;\nint line = diagnostic;"),
           std::string("#define UNROLL(n) _Pragma(#n)\nint sum(const int* x) { int s = 0;\n"
                       "UNROLL(GCC unroll 4)\nfor (int i = 0; i < 64; ++i) s += x[i];\n"
                       "#pragma GCC ivdep\nfor (int i = 0; i < 64; ++i) s += x[i];\n"
                       "_Pragma(\"omp simd\")\nfor (int i = 0; i < 64; ++i) s += x[i];\n"
                       "return s; }"),
           std::string("#pragma GCC push_options\n#pragma GCC optimize(\"fast-math\")\n"
                       "#pragma GCC pop_options"),
       })
    check_clean(Bench(), fine + "\n" + kAnswer);
}

TEST_CASE(
    "the compiler's own headers for AVX-512 are not the submission's, what is beside them is") {
  // g++ 12 warns in avx512fintrin.h of registers that are undefined on purpose (GCC bug 105593).
  const auto sum_in = [](const std::string& header) {
    return header +
           "__attribute__((target(\"avx512f\")))\n"
           "static float sum(const float* x) {\n"
           "  const __m512 v = _mm512_loadu_ps(x);\n"
           "  return _mm512_reduce_add_ps(v) + _mm512_reduce_max_ps(_mm512_getexp_ps(\n"
           "      _mm512_permutexvar_ps(_mm512_set1_epi32(1), _mm512_roundscale_ps(v, 0))));\n"
           "}\n";
  };
  const std::string answer =
      "extern \"C\" long answer() {\n"
      "  float x[16] = {};\n  return __builtin_cpu_supports(\"avx512f\") ? (long)sum(x) : 0;\n}\n";
  const std::string fine = sum_in("#include <immintrin.h>\n") + answer;
  const Bench bench;
  check_clean(bench, fine);
  const BuildRecord seen = bench.build().record;
  if (contains(seen.compiler, " 12."))  // else there is nothing to tell apart
    CHECK(contains(seen.messages, "avx512fintrin.h"));
  CHECK(Bench().build("static int unused() { return 1; }\n" + fine).record.warnings == 1);
  // The header's folder decides, and not its name or the name of a folder of the submission's.
  for (const char* name : {"include/sum.h", "usr/include/sum.h", "avx512fintrin.h"}) {
    const Bench own;
    own.file(name, sum_in("#include <immintrin.h>\n") + "static int unused() { return 1; }\n");
    CHECK(own.build(std::string("#include \"") + name + "\"\n" + answer).record.warnings == 1);
  }
}

TEST_CASE("a system's file is one below /usr, by whatever way") {
  for (const char* path : {"/usr/include/x.h", "/usr/lib/gcc/x86_64-linux-gnu/12/include/x.h",
                           "/usr/lib/gcc/../../include/x.h", "/usr/local/include/x.h"})
    CHECK_MESSAGE(is_system_file(path), std::string(path));
  for (const char* path :
       {"", "x.h", "./x.h", "usr/include/x.h", "/tmp/x.h", "/x.h", "/usr/../tmp/x.h", "/usr",
        "/usr/include/../../proc/self/cwd/x.h", "/dev/fd/3", "/usr/../dev/fd/3"})
    CHECK_MESSAGE(!is_system_file(path), std::string(path));
  // A link out of /usr, behind which ".." leads elsewhere than its letters say.
  const std::filesystem::path out = "/usr/lib/ssl/certs";
  if (std::filesystem::is_symlink(out)) CHECK_FALSE(is_system_file((out / "../../x.h").string()));
}

TEST_CASE("what the compiler says is told with errors first, then own warnings, then the rest") {
  const auto said = [](const char* kind, const char* file, const std::string& more) {
    return std::string("{\"kind\": \"") + kind + "\", \"message\": \"m\", \"option\": \"-Wm\", " +
           "\"locations\": [{\"caret\": {\"file\": \"" + file +
           "\", \"line\": 3, \"byte-column\": 4}}], \"children\": [" + more + "]}";
  };
  const std::string nested =
      said("warning", "/usr/include/x.h",
           said("note", "/usr/include/x.h", "") + ", " + said("warning", "a.cpp", "") + ", " +
               said("error", "\x1b[31mb.cpp", ""));
  const CompilerOutput whole = read_output("plain\n[" + nested + "]\n");
  CHECK_FALSE(whole.garbled);
  REQUIRE(own_warnings(whole).size() == 1);
  CHECK(own_warnings(whole)[0].file == "a.cpp");
  CHECK(tidy_messages(whole) ==
        " [31mb.cpp:3:4: error: m [-Wm]\na.cpp:3:4: warning: m [-Wm]\n"
        "/usr/include/x.h:3:4: warning: m [-Wm]\n/usr/include/x.h:3:4: note: m [-Wm]\nplain");
  CHECK(read_output("[" + nested).garbled);
  CHECK(read_output("[7, null, {\"locations\": [3]}, {\"locations\": 1, \"children\": 2}]")
            .diagnostics.size() == 2);
}
