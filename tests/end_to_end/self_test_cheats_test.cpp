// SPDX-License-Identifier: Apache-2.0
// Tests that look at the solution's code, at its place in the queue or at what it was made of,
// instead of at what it does, earn nothing.
#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

#include "harness/core/rng.h"
#include "harness/grading/self_test.h"
#include "tests/end_to_end/grading_environment.h"

using namespace gauntlet;

namespace {

/// A solution whose saved bytes are `bytes`, computed in several steps, and whose code, constants
/// and size all tell it from the others.
SelfTestSubject counting(const std::string& name, int bytes, bool honest) {
  SelfTestSubject subject;
  subject.name = name;
  subject.honest = honest;
  std::string steps;
  // What runs when a library is loaded is there for right ones only.
  const std::string made = bytes % 8 == 0
                               ? "static volatile int64_t one = 1;\nstatic int64_t made = one;\n"
                               : "static int64_t made = 1;\n";
  for (int i = 0; i < bytes % 64; ++i) steps += fmt::format("  n = n * 3 + a->rows * {};\n", i + 7);
  subject.solution.files.push_back(
      {"solution.cpp",
       fmt::format(
           "#include \"contract.h\"\n"
           "{2}static const volatile double mark[2] = {{{0}.0 + 1e9, -{0}.5}};\n"
           "extern \"C\" int64_t layernorm_saved_bytes(const LayernormArgs* a) {{\n"
           "  volatile char frame[1000 * {0}];\n  frame[a->rows & 1] = 0;\n"
           "  volatile int64_t n = static_cast<int64_t>(mark[0] - 1e9);\n{1}"
           "  return a->rows == 0 ? {0} * made : n;\n}}\n"
           "extern \"C\" int64_t layernorm_forward(const LayernormArgs*) {{ return 0; }}\n"
           "extern \"C\" int64_t layernorm_backward(const LayernormArgs*) {{ return 0; }}\n",
           bytes, steps, made)});
  return subject;
}

/// Right ones save a multiple of 8 bytes.
std::vector<SelfTestSubject> counters() {
  return {counting("eight", 8, true), counting("sixteen", 16, true), counting("seven", 7, false),
          counting("nine", 9, false), counting("ten", 10, false)};
}

CheckObservation grade_cheat(const std::string& self_test,
                             const std::vector<SelfTestSubject>& subjects) {
  SolutionSource source;
  source.files.push_back({"solution.cpp", "int nothing;"});
  source.files.push_back({"tests.cpp", self_test});
  return grade_self_test(environment(), load_challenge(GAUNTLET_ROOT, kChallenge), source, subjects,
                         [](const std::string&) {});
}

constexpr const char* kBegin = R"(
#include <algorithm>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>
#include "contract.h"
static unsigned hash = 2166136261u;
static void fold(const void* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(from)[i]) * 16777619u;
}
static const auto* const code = reinterpret_cast<const unsigned char*>(&layernorm_saved_bytes);
)";

// Each of them folds into `hash` what it can see of the subject without calling it.
constexpr const char* kCode = R"(
static void look() {
  std::size_t bytes = 0;
  while (code[bytes] != 0xc3) ++bytes;
  fold(code, bytes);
})";
constexpr const char* kSymbolSize = R"(
static void look() {
  Dl_info info{};
  void* symbol = nullptr;
  dladdr1(code, &info, &symbol, RTLD_DL_SYMENT);
  fold(&static_cast<const ElfW(Sym)*>(symbol)->st_size, sizeof(ElfW(Xword)));
})";
constexpr const char* kLayout = R"(
static int each(dl_phdr_info* info, std::size_t, void*) {
  const auto at = reinterpret_cast<ElfW(Addr)>(code);
  const auto* end = info->dlpi_phdr + info->dlpi_phnum;
  for (const auto* p = info->dlpi_phdr; p != end; ++p)
    if (p->p_type == PT_LOAD && at - info->dlpi_addr - p->p_vaddr < p->p_memsz) {
      const ElfW(Addr) place = at - info->dlpi_addr;
      fold(&place, sizeof place);
      for (const auto* q = info->dlpi_phdr; q != end; ++q) fold(&q->p_memsz, sizeof q->p_memsz);
    }
  return 0;
}
static void look() { dl_iterate_phdr(each, nullptr); })";

// The sizes that the function's frame has, as its unwind table tells them (DWARF's call frames).
constexpr const char* kUnwindTable = R"(
struct Bases { void* text; void* data; void* function; };
extern "C" const unsigned char* _Unwind_Find_FDE(void*, Bases*);
static std::size_t number(const unsigned char*& at) {
  std::size_t value = 0;
  for (int shift = 0;; shift += 7) {
    value |= std::size_t(*at & 0x7f) << shift;
    if ((*at++ & 0x80) == 0) return value;
  }
}
static void look() {
  Bases bases{};
  const unsigned char* table = _Unwind_Find_FDE(const_cast<unsigned char*>(code) + 1, &bases);
  if (table == nullptr) return;
  unsigned length = 0;
  std::memcpy(&length, table, sizeof length);
  const unsigned char* const end = table + sizeof length + length;
  const unsigned char* at = table + 16;  // length, parent, place and size
  const std::size_t more = number(at);
  at += more;
  while (at < end) {
    const unsigned char op = *at++;
    if (op == 2) ++at;
    else if (op == 3) at += 2;
    else if (op == 4) at += 4;
    else if (op == 0x0e) { const std::size_t size = number(at); fold(&size, sizeof size); }
    else if (op == 0x0c) { number(at); number(at); }
    else if (op == 0x0d || (op & 0xc0) == 0x80) number(at);
  }
})";

// What the loader runs before anything else: which of its slots lead to a bare return.
constexpr const char* kSlots = R"(
static void look() {
  Dl_info info{};
  void* found = nullptr;
  dladdr1(code, &info, &found, RTLD_DL_LINKMAP);
  const auto* library = static_cast<const link_map*>(found);
  const unsigned char* const* slots = nullptr;
  std::size_t bytes = 0;
  for (const auto* entry = library->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT_ARRAY)
      slots = reinterpret_cast<const unsigned char* const*>(library->l_addr + entry->d_un.d_ptr);
    if (entry->d_tag == DT_INIT_ARRAYSZ) bytes = entry->d_un.d_val;
  }
  for (std::size_t i = 0; i < bytes / sizeof *slots; ++i) {
    const bool bare = *slots[i] == 0xc3;
    fold(&bare, sizeof bare);
  }
})";

/// What a grade tells whoever handed in tests that return what they saw.
std::string seen_by(const std::string& look, const std::string& name) {
  std::vector<SelfTestSubject> all = counters();
  for (SelfTestSubject& subject : all) subject.honest = subject.name == name;
  std::stable_partition(all.begin(), all.end(), [](const auto& s) { return s.honest; });
  const auto seen =
      grade_cheat(kBegin + look +
                      "extern \"C\" int self_test(void) { look(); return static_cast<int>("
                      "(hash & 0x7fffffff) | 1); }",
                  all);
  REQUIRE(seen.finding);
  REQUIRE(seen.finding->evidence.size() == 1);
  const std::string& said = seen.finding->evidence[0];  // "eight: self_test returned 4711"
  return said.substr(said.rfind(' ') + 1);
}

/// Accepts what looks like a right one did in an earlier grade.
std::string table_of_right_ones(const std::string& look) {
  std::vector<std::string> known;
  for (const SelfTestSubject& subject : counters())
    if (subject.honest) known.push_back(seen_by(look, subject.name));
  return fmt::format(
      "{}{}extern \"C\" int self_test(void) {{ look();\n"
      "  for (unsigned known : {{{}u}}) if (((hash & 0x7fffffff) | 1) == known) return 0;\n"
      "  return 1;\n}}",
      kBegin, look, fmt::join(known, "u, "));
}

}  // namespace

TEST_CASE("tests that know the right solutions by their code or its layout earn nothing") {
  for (const char* look : {kCode, kSymbolSize, kLayout, kUnwindTable, kSlots}) {
    CAPTURE(std::string(look));
    CHECK(grade_cheat(table_of_right_ones(look), counters()).earned == 0);
  }
}

TEST_CASE("the code of a solution is another in every grade") {
  // Two grades agree by chance once in 2^30.
  CHECK(seen_by(kCode, "eight") != seen_by(kCode, "eight"));
}

TEST_CASE("tests that look for a wrong solution's constants in memory earn nothing") {
  const std::string search = R"(
static bool holds(double mark) {
  unsigned char wanted[sizeof mark];
  std::memcpy(wanted, &mark, sizeof mark);
  bool found = false;
  const auto each = [&](dl_phdr_info* info) {
    const auto at = reinterpret_cast<ElfW(Addr)>(code) - info->dlpi_addr;
    const auto* end = info->dlpi_phdr + info->dlpi_phnum;
    if (std::none_of(info->dlpi_phdr, end, [&](const auto& p) {
          return p.p_type == PT_LOAD && at - p.p_vaddr < p.p_memsz; })) return;
    for (const auto* p = info->dlpi_phdr; p != end; ++p) {
      if (p->p_type != PT_LOAD) continue;
      const auto* from = reinterpret_cast<const unsigned char*>(info->dlpi_addr + p->p_vaddr);
      found |= std::search(from, from + p->p_memsz, wanted, wanted + sizeof wanted) !=
               from + p->p_memsz;
    }
  };
  dl_iterate_phdr([](dl_phdr_info* info, std::size_t, void* f) {
    (*static_cast<decltype(each)*>(f))(info); return 0; }, const_cast<void*>(
      static_cast<const void*>(&each)));
  return found;
}
extern "C" int self_test(void) {
  return holds(7 + 1e9) || holds(9 + 1e9) || holds(10 + 1e9);
})";
  CHECK(grade_cheat(kBegin + search, counters()).earned == 0);
}

TEST_CASE("tests that know which solutions come first earn nothing") {
  // Whoever starts within three seconds of the build is accepted, and keeps its core until the
  // fourth, so that nobody else does. That earns everything if the two right ones are the first of
  // 32: by chance in one of 496 grades, and in one of 246016 pairs of them.
  std::vector<SelfTestSubject> many{counting("right", 8, true), counting("right_too", 16, true)};
  for (int i = 17; i < 47; ++i) many.push_back(counting(fmt::format("wrong_{}", i), i, false));
  const std::string early = R"(
static long seconds_of_day() { return std::time(nullptr) % 86400; }
static long built() {
  const char* t = __TIME__;  // "17:04:31"
  const auto two = [t](int i) { return (t[i] - '0') * 10 + t[i + 1] - '0'; };
  return two(0) * 3600 + two(3) * 60 + two(6);
}
extern "C" int self_test(void) {
  if (seconds_of_day() - built() >= 3) return 1;
  while (seconds_of_day() - built() < 4) usleep(10'000);
  return 0;
}
// )";
  grade_cheat(kBegin + early, many);  // builds them all; what follows is built at once
  double earned = 0;
  for (int i = 0; i < 2; ++i)
    earned += grade_cheat(kBegin + early + std::to_string(entropy()), many).earned / 2;
  CHECK(earned < 1);
}

TEST_CASE("tests that refuse all that was made of one right solution earn nothing for it") {
  // What a family of solutions has in common shows in what they answer, which no disguise changes.
  std::vector<SelfTestSubject> all;
  for (int i = 1; i <= 5; ++i) all.push_back(counting(fmt::format("right_{}", i), 8 * i, true));
  all.push_back(counting("base", 101, true));
  for (int i = 102; i <= 106; ++i) {
    all.push_back(counting(fmt::format("wrong_{}", i), i, false));
    all.back().made_of = "base";
  }
  const std::string family =
      "#include \"contract.h\"\n"
      "extern \"C\" int self_test(void) { LayernormArgs a{};\n"
      "  return layernorm_saved_bytes(&a) > ";
  const auto refuses_base = grade_cheat(family + "100; }", all);
  CHECK(refuses_base.earned == 0);
  CHECK(refuses_base.facts.at(0).value == 0);
  CHECK(grade_cheat(family + "101; }", all).earned == 1);
}
