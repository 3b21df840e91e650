// SPDX-License-Identifier: Apache-2.0
#include "harness/audit/wild_rules.h"

#include <doctest/doctest.h>
#include <set>
#include <stdexcept>

using namespace gauntlet;

namespace {

const WildRule& rule(std::string_view name) {
  for (const WildRule& one : wild_rules())
    if (one.name == name) return one;
  throw std::runtime_error("no such rule");
}

/// The source after each change that the rule can make, one after the other: "x | y".
std::string all_of(std::string_view name, std::string_view source) {
  std::string text;
  for (const WildSite& site : wild_sites(rule(name), source))
    text += (text.empty() ? "" : " | ") + changed(source, site);
  return text;
}

}  // namespace

TEST_CASE("every rule has a name of its own") {
  std::set<std::string_view> names;
  for (const WildRule& one : wild_rules()) CHECK(names.insert(one.name).second);
  CHECK(names.size() > 60);
}

TEST_CASE("a comparison is told from a template, a product from a pointer") {
  CHECK(all_of("less_to_less_equal", "std::vector<int> v; if (a < b) {}") ==
        "std::vector<int> v; if (a <= b) {}");
  CHECK(all_of("times_to_plus", "float* x = a * b; f(*x);") == "float* x = a + b; f(*x);");
  CHECK(all_of("minus_to_plus", "x = -a - b;") == "x = -a + b;");
  CHECK(all_of("and_to_or", "void f(A&& a) { return b && c; }") ==
        "void f(A&& a) { return b || c; }");
}

TEST_CASE("numbers move by one, those of directives stay") {
  CHECK(all_of("number_up", "#define N 8\nint x[16];") == "#define N 8\nint x[(16 + 1)];");
  CHECK(all_of("number_down", "x = 1e-5f;") == "x = (1e-5f - 1);");
}

TEST_CASE("each term of a condition can be dropped, and no more than it") {
  const char* const source = "if (a < 0 || (b && c) || d) return 1;";
  CHECK(all_of("left_of_or_dropped", source) ==
        "if ((b && c) || d) return 1; | if (a < 0 || d) return 1;");
  CHECK(all_of("right_of_or_dropped", source) ==
        "if (a < 0 || d) return 1; | if (a < 0 || (b && c)) return 1;");
  CHECK(all_of("left_of_and_dropped", source) == "if (a < 0 || (c) || d) return 1;");
  CHECK(all_of("left_of_and_dropped", "{ return a && b; }") == "{ return b; }");
}

TEST_CASE("terms and factors end where an operator binds less") {
  CHECK(all_of("right_term_dropped", "x = a + b * c - d;") == "x = a - d;");
  CHECK(all_of("left_term_dropped", "f(a * b + c, d);") == "f(c, d);");
  CHECK(all_of("right_factor_dropped", "x = a + b * c - d;") == "x = a + b - d;");
  CHECK(all_of("subtrahend_dropped", "y = (a - b) * c;") == "y = (a) * c;");
}

TEST_CASE("conditions are negated whole, over several lines") {
  CHECK(all_of("condition_negated", "if (a(b) ||\n    c) d();") == "if (!(a(b) ||\n    c)) d();");
  CHECK(all_of("return_dropped", "if (a < 0) return bad(1, 2);\nb();") == "if (a < 0) {}\nb();");
}

TEST_CASE("the bound of a loop moves, and its other parts stay") {
  const char* const loop = "for (int i = 0; i < n + 1; ++i) f();";
  CHECK(all_of("loop_ends_late", loop) == "for (int i = 0; i < n + 1 + 1; ++i) f();");
  CHECK(all_of("loop_ends_at_1000", loop) == "for (int i = 0; i < n + 1 && i < 1000; ++i) f();");
  CHECK(all_of("loop_ends_early", "for (const auto& x : all) f(x < 1);").empty());
}

TEST_CASE("a limit goes, whichever side it is") {
  CHECK(all_of("limit_dropped", "x = std::min(f(a, b), c);") == "x = (f(a, b));");
  CHECK(all_of("other_limit_dropped", "x = std::min(f(a, b), c);") == "x = (c);");
  CHECK(all_of("maximum_to_minimum", "std::max<int>(a, b)") == "std::min<int>(a, b)");
}

TEST_CASE("statements are dropped, declarations and control flow are not") {
  CHECK(all_of("statement_dropped",
               "void f() {\n  int x = 1;\n  const auto y = x;\n  std::vector<A> z(x);\n  g(x);\n"
               "  for (h(); x < 1; ++x) k();\n  return;\n}") ==
        "void f() {\n  int x = 1;\n  const auto y = x;\n  std::vector<A> z(x);\n  ;\n"
        "  for (h(); x < 1; ++x) k();\n  return;\n} | "
        "void f() {\n  int x = 1;\n  const auto y = x;\n  std::vector<A> z(x);\n  g(x);\n"
        "  for (h(); x < 1; ++x) ;\n  return;\n}");
  CHECK(all_of("buffer_kept", "{ std::vector<float> sums(n); }") ==
        "{ static std::vector<float> sums(n); }");
  CHECK(all_of("buffer_kept", "std::vector<int> f() { g(); }").empty());
}

TEST_CASE("directives of threads are changed, and stay lines of their own") {
  CHECK(all_of("barrier_dropped", "a();\n#pragma omp barrier\nb();") == "a();\n#\nb();");
  CHECK(all_of("threads_unlimited", "#pragma omp parallel num_threads(f(n))\n{}") ==
        "#pragma omp parallel \n{}");
  CHECK(all_of("threads_unlimited", "omp_set(num_threads(3));").empty());
}

TEST_CASE("what a change drops leaves its lines, so that no other line has another number") {
  const std::string source = "if (a) return f(b,\n                c);\nd();";
  const auto sites = wild_sites(rule("return_dropped"), source);
  REQUIRE(sites.size() == 1);
  CHECK(changed(source, sites[0]) == "if (a) {}\n\nd();");
  CHECK(sites[0].line == 1);
  CHECK(sites[0].before == "if (a) return f(b, c);");
  CHECK(sites[0].after == "if (a) {}");
}

TEST_CASE("places in lines that read alike are counted") {
  const auto sites = wild_sites(rule("plus_to_minus"), "f(a + b + c);\ng();\n  f(a + b + c);\n");
  REQUIRE(sites.size() == 4);
  for (int i = 0; i < 4; ++i) CHECK(sites[static_cast<std::size_t>(i)].place == i + 1);
  CHECK(sites[2].line == 3);
  CHECK(sites[2].before == sites[0].before);
}

TEST_CASE("what no caller could ever notice is left alone") {
  CHECK(all_of("int64_to_int32", "for (int64_t i = 0; i < n; ++i) { int64_t j = i * n; }") ==
        "for (int64_t i = 0; i < n; ++i) { int32_t j = i * n; }");
  CHECK(all_of("int64_to_int32", "for (std::int64_t i = 0; i < n; ++i) {}").empty());
  CHECK(all_of("number_up", "__builtin_prefetch(p + 16);\nx = 16;") ==
        "__builtin_prefetch(p + 16);\nx = (16 + 1);");
}

TEST_CASE("types are narrowed, refusals answered with 0 and choices turned") {
  CHECK(all_of("int64_to_int16", "int64_t i = 0; std::int64_t k;") ==
        "int16_t i = 0; std::int64_t k; | int64_t i = 0; std::int16_t k;");
  CHECK(all_of("double_to_float", "double x;  // double") == "float x;  // double");
  CHECK(all_of("constant_to_zero", "if (n < 0) return BAD_ARGUMENT;\nreturn value;") ==
        "if (n < 0) return 0;\nreturn value;");
  CHECK(all_of("choices_swapped", "x = a < 1 ? f(b, c) : d + 1;") ==
        "x = a < 1 ? d + 1 : f(b, c);");
  CHECK(all_of("reduction_dropped", "#pragma omp for reduction(max : x) nowait\n;") ==
        "#pragma omp for  nowait\n;");
  CHECK(all_of("one_thread", "#pragma omp parallel num_threads(n)\n;") ==
        "#pragma omp parallel num_threads(1)\n;");
}
