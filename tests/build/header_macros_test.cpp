// SPDX-License-Identifier: Apache-2.0
// A macro of the submission's takes no warning into a header of the system's.
#include <doctest/doctest.h>

#include "tests/build/bench.h"
#include "tests/support/text.h"

using namespace gauntlet;
using gauntlet::test::Bench;
using gauntlet::test::check_clean;

namespace {

const std::string kHidden = "static inline int hidden() { int unused; return 0; }";
const std::string kCalls = "\nextern \"C\" long answer() { return hidden(); }\n";
const std::string kFine = "\nextern \"C\" long answer() { return 1; }\n";
const std::string kWord = "#include <wordexp.h>";
const std::string kBadchar = "#define WRDE_BADCHAR WRDE_BADCHAR }; " + kHidden + " enum { other\n";

void check_told(const Bench& bench, const std::string& source, const std::string& place) {
  const BuiltSolution built = bench.build(source);
  CHECK_MESSAGE(built.record.ok, source << built.record.messages);
  CHECK_MESSAGE(built.record.warnings > 0, source);
  CHECK_MESSAGE(contains(built.record.messages, place), built.record.messages);
}

}  // namespace

TEST_CASE("code that a system header takes in by a macro is told with its macro") {
  check_told(Bench(), kBadchar + kWord + kCalls, "solution.cpp:1:1: warning: macro 'WRDE_BADCHAR'");
  check_told(Bench(), kBadchar + kWord + kCalls, "/usr/include/wordexp.h:55");
  check_told(Bench(),
             "#include <cstdlib>\n#undef __END_DECLS\n#define __END_DECLS } " + kHidden + "\n" +
                 kWord + kCalls,
             "macro '__END_DECLS'");
  check_told(Bench(),
             "#define wordfree(p) wordfree(p); " + kHidden + " extern void other(wordexp_t*)\n" +
                 kWord + kCalls,
             "macro 'wordfree'");
  check_told(Bench(),
             "/* a\n*/ # /* b */ de\\\nfine /* c\n*/ we_\\\nwordc we_wordc; " + kHidden +
                 " int other\n" + kWord +
                 "\nextern \"C\" long answer() { return wordexp_t::hidden(); }\n",
             "macro 'we_wordc'");
}

TEST_CASE("a name that a header puts together out of pieces is one that it uses") {
  check_told(Bench(),
             "#define acosf(a) acosf(a) noexcept(true); " + kHidden +
                 " extern float other(a)\n#include <math.h>" + kCalls,
             "macro 'acosf'");
  check_told(Bench(),
             "#define lgammaf32x_r(a, b) lgammaf32x_r(a, b) noexcept(true); " + kHidden +
                 " extern float other(a)\n#include <math.h>" + kCalls,
             "macro 'lgammaf32x_r'");
}

TEST_CASE("the macro may stand in another file than the header's name, and behind a condition") {
  const Bench bench;
  bench.file("detail/macros.h", "#ifdef __GCC_HAVE_DWARF2_CFI_ASM\n" + kBadchar + "#endif\n");
  check_told(bench, "#include \"detail/macros.h\"\n" + kWord + kCalls, "detail/macros.h:2:1:");
  check_told(
      bench,
      "#define FILE_NAME \"detail/../detail/macros.h\"\n#include FILE_NAME\n" + kWord + kCalls,
      "detail/macros.h:2:1:");
}

TEST_CASE("the macro may stand behind all includes of its file, which is included itself") {
  const Bench bench;
  bench.file("then.h", kWord + "\n");
  bench.file("macros.h", "#include <cstddef>\n" + kBadchar);
  check_told(bench, "#include \"macros.h\"\n#include \"then.h\"" + kCalls, "macros.h:2:1:");
  // The solution itself, first for its macro and then for the rest.
  check_told(bench,
             "#ifndef AGAIN\n#define AGAIN\n#include \"solution.cpp\"\n#include \"then.h\"" +
                 kCalls + "#else\n" + kBadchar + "#endif\n",
             "macro 'WRDE_BADCHAR'");
}

TEST_CASE("more than one macro of a name, or a file that is no part of this compilation") {
  const Bench bench;
  bench.file("unread.h", kBadchar + kWord + "\n");
  check_clean(bench, "#include <wordexp.h>" + kFine);
  check_told(
      bench,
      "#if 0\n#define WRDE_BADCHAR(x) x\n#include <cstddef>\n#endif\n" + kBadchar + kWord + kCalls,
      "macro 'WRDE_BADCHAR'");
}

TEST_CASE("no macro keeps the search from working") {
  for (const char* other : {"#if 0\n#define _Pragma(x)\n#endif\n", "#define GCC\n#define error\n",
                            "#define end_of_headers x\n", "#undef __OPTIMIZE__\n",
                            "#define WRDE_BADCHAR(x) x\n#undef WRDE_BADCHAR\n"})
    check_told(Bench(), other + kBadchar + kWord + kCalls, "macro");
}

TEST_CASE("a text of a header's that the submission opens is read with the rest") {
  check_told(Bench(),
             "#include <termios.h>\n#include <unistd.h>\n#define TTYDEFCHARS // yes\n#define "
             "ttydefchars other; " +
                 kHidden +
                 " extern const cc_t unused; cc_t ttydefchars\n#include <sys/ttydefaults.h>" +
                 kCalls,
             "macro 'ttydefchars'");
}

TEST_CASE("a header that asks for the value of a macro is no way around the search") {
  // A program of ours has this header; of the C and C++ libraries none asks for a free name.
  check_told(Bench(), "#define FMT_USE_CONSTEXPR (0 + 1)\n#include <fmt/core.h>" + kFine,
             "cannot be searched for its macros");
}

TEST_CASE("an argument list that looks like the end of a macro is not its end") {
  check_told(Bench(),
             "#define wordfree(p /*) 1\n*/) wordfree(p); " + kHidden +
                 " extern void other(wordexp_t*)\n" + kWord + kCalls,
             "macro 'wordfree'");
}

TEST_CASE("right code that defines macros before it includes headers is not blamed") {
  // In few sources, as it takes a second to go through all these headers.
  for (const std::string& fine : std::initializer_list<std::string>{
           // The library has attributes of these names, and parameters of its macros.
           "#define likely(x) __builtin_expect(!!(x), 1)\n#define unlikely(x) (x)\n"
           "#define A(i, j) a[(i) * n + (j)]\n#define B b[0]\n#define T float\n"
           "#define N 64\n#define M (-1.5e-3f)\n#define I (0x1F)\n#define K 1'000 // of keys\n"
           "#define restrict __restrict\n#define RESTRICT __restrict__\n"
           "#define UNROLL _Pragma(\"GCC unroll 8\")\n#define STR(x) #x\n"
           "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#undef NDEBUG",
           "#define ALWAYS_INLINE inline __attribute__((always_inline))\n#define MIN(a, b) a\n"
           "#define NDEBUG\n#define _USE_MATH_DEFINES\n#define __STDC_LIMIT_MACROS 1\n"
           "#define _FILE_OFFSET_BITS 64\n#define _GLIBCXX_ASSERTIONS\n"
           "#ifndef _SOLUTION_UTIL_H_\n#define _SOLUTION_UTIL_H_\n#endif\n"
           "// #define size_t\n#define SIZE size_t\nconst char* text = \"#define vector\";",
       })
    check_clean(Bench(),
                fine +
                    "\n#include <algorithm>\n#include <cassert>\n#include <cmath>\n#include "
                    "<cstring>\n#include <immintrin.h>\n#include <omp.h>\n#include <random>\n"
                    "#include <sys/mman.h>\n#include <thread>\n#include <vector>" +
                    kFine);
}

TEST_CASE("macros behind the headers that use their names are not blamed") {
  const std::string words = "#define we_wordc words(of)\n#define __END_OF words\n";
  check_clean(Bench(), kWord + "\n#include <vector>\n" + words + kFine);
  const Bench bench;
  bench.file("own.h", "#pragma once\n" + kWord + "\n#include <vector>\n" + words);
  check_clean(bench,
              "#include <algorithm>\n#include \"own.h\"\n#include <cstring>\n#include "
              "<vector>" +
                  kFine);
}
