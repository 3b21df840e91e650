// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/audit_suite.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "harness/core/files.h"

using namespace gauntlet;

namespace {

/// Two checks for each device.
Grader grader_of_two() {
  Grader grader;
  for (const char* id : {"first", "second"}) {
    Check check;
    check.id = id;
    grader.checks.push_back(check);
  }
  for (const char* id : {"third", "fourth"}) {
    Check check;
    check.id = id;
    check.devices = {Device::cuda};
    grader.checks.push_back(check);
  }
  return grader;
}

/// A checkout that holds one grader's audit files and nothing else.
struct Checkout {
  ScratchFolder root{"test"};

  explicit Checkout(const std::string& mutants_yaml) {
    write("mutants.yaml", mutants_yaml);
    write("honest/plain.cpp",
          "// strategy: the plain\n// one\n// uses: sums in\n// any order\n// SPDX-x\nint a = "
          "1;\nint b = 1;\n");
  }
  void write(const std::string& name, const std::string& text) {
    write_file(root.path() / "graders/example" / name, text);
  }
  AuditSuite load(Device device = Device::cpu) {
    return load_audit_suite(root.path(), "example", device, grader_of_two());
  }
};

std::string mutant(const std::string& lines) {
  return "mutants:\n  - name: m\n    fault: f\n    killed_by: [first, second]\n" + lines;
}

}  // namespace

TEST_CASE("a patch makes a mutant of the honest file it names") {
  Checkout checkout(mutant("    base: honest/plain.cpp\n    replace: a = 1\n    with: a = 2\n"));
  const AuditSuite suite = checkout.load();
  REQUIRE(suite.mutants.size() == 1);
  CHECK(suite.mutants[0].solution.files.back().content.find("int a = 2;") != std::string::npos);
  CHECK(suite.mutants[0].killers == std::vector<std::string>{"first", "second"});
  REQUIRE(suite.honest.size() == 1);
  CHECK(suite.honest[0].strategy == "the plain one");
  CHECK(freedom_taken(suite.honest[0].solution) == "sums in any order");
  CHECK(freedom_taken(suite.mutants[0].original) == "sums in any order");
  CHECK(freedom_taken({}).empty());
}

TEST_CASE("a mutant says which honest file it was made of, and keeps it as it was") {
  const std::string edit = "    replace: a = 1\n    with: a = 2\n";
  const AuditSuite suite = Checkout(mutant("    base: honest/plain.cpp\n" + edit)).load();
  CHECK(suite.mutants[0].made_of == suite.honest[0].name);
  CHECK(suite.mutants[0].original.digest() == suite.honest[0].solution.digest());
  Checkout header(mutant("    base: honest/shared.h\n" + edit));
  header.write("honest/shared.h", "int a = 1;\n");
  CHECK(header.load().mutants[0].made_of == "shared.h");
}

TEST_CASE("a mutant may change a header of an honest file instead of the file") {
  const std::string edit = "    replace: c = 1\n    with: c = 2\n";
  Checkout checkout(mutant("    base: honest/plain.cpp\n    header: shared.h\n" + edit));
  CHECK_THROWS_WITH_AS(checkout.load(), doctest::Contains("no file of this name"), UserError);
  checkout.write("honest/shared.h", "int c = 1;\n");
  const AuditSuite suite = checkout.load();
  CHECK(suite.mutants[0].made_of == suite.honest[0].name);
  CHECK(suite.mutants[0].original.digest() == suite.honest[0].solution.digest());
  CHECK(suite.mutants[0].solution.files[0].content == "int c = 2;\n");
  CHECK(suite.mutants[0].solution.files[1].content == suite.mutants[0].original.files[1].content);
}

TEST_CASE("a patch that fits nowhere or twice is refused with file and line") {
  Checkout nowhere(mutant("    base: honest/plain.cpp\n    replace: c = 1\n    with: x\n"));
  CHECK_THROWS_WITH_AS(nowhere.load(), doctest::Contains("does not occur"), UserError);
  Checkout twice(mutant("    base: honest/plain.cpp\n    replace: = 1\n    with: = 2\n"));
  CHECK_THROWS_WITH_AS(twice.load(), doctest::Contains("more than once"), UserError);
}

TEST_CASE("several edits and whole files make mutants as well") {
  Checkout checkout(mutant("    base: honest/plain.cpp\n    edits:\n"
                           "      - {replace: a = 1, with: a = 3}\n"
                           "      - {replace: b = 1, with: b = 4}\n") +
                    "  - name: whole\n    fault: f\n    killed_by: [second, first]\n"
                    "    file: mutants/whole.cpp\n");
  checkout.write("mutants/whole.cpp", "int whole;\n");
  const AuditSuite suite = checkout.load();
  REQUIRE(suite.mutants.size() == 2);
  CHECK(suite.mutants[0].solution.files[0].content.find("int b = 4;") != std::string::npos);
  CHECK(suite.mutants[1].solution.files[0].content == "int whole;\n");
}

TEST_CASE("a mutant names two known checks, and nothing unknown") {
  const std::string body = "    base: honest/plain.cpp\n    replace: a = 1\n    with: a = 2\n";
  Checkout unknown("mutants:\n  - name: m\n    fault: f\n    killed_by: [first, third]\n" + body);
  CHECK_THROWS_WITH_AS(unknown.load(), doctest::Contains("'third' is no check"), UserError);
  Checkout single("mutants:\n  - name: m\n    fault: f\n    killed_by: [first, first]\n" + body);
  CHECK_THROWS_WITH_AS(single.load(), doctest::Contains("two different checks"), UserError);
  Checkout extra(mutant(body + "    colour: red\n"));
  CHECK_THROWS_AS(extra.load(), UserError);
}

TEST_CASE("an honest variant says its strategy first, and which freedom of the contract it takes") {
  Checkout checkout(mutant("    base: honest/plain.cpp\n    replace: a = 1\n    with: a = 2\n"));
  checkout.write("honest/silent.cpp", "int a;\n");
  CHECK_THROWS_WITH_AS(checkout.load(), doctest::Contains("silent.cpp:1"), UserError);
  checkout.write("honest/silent.cpp", "// strategy: another one\nint a;\n");
  CHECK_THROWS_WITH_AS(checkout.load(), doctest::Contains("which freedom"), UserError);
}

TEST_CASE("headers beside a variant come with it and with its mutants") {
  Checkout checkout(mutant("    base: honest/plain.cpp\n    replace: a = 1\n    with: a = 2\n"));
  checkout.write("honest/shared.h", "int c = 1;\n");
  const AuditSuite suite = checkout.load();
  REQUIRE(suite.honest.size() == 1);
  for (const SolutionSource& source : {suite.honest[0].solution, suite.mutants[0].solution}) {
    REQUIRE(source.files.size() == 2);
    CHECK(source.files[0].name == "shared.h");
    CHECK(source.files[1].name == "solution.cpp");
  }
}

TEST_CASE("a suite says with how many seeds its honest variants are tried") {
  const std::string one =
      mutant("    base: honest/plain.cpp\n    replace: a = 1\n    with: a = 2\n");
  CHECK(Checkout(one).load().honest_seeds == 3);
  CHECK(Checkout("honest_seeds: 20\n" + one).load().honest_seeds == 20);
  Checkout none("honest_seeds: 0\n" + one);
  CHECK_THROWS_WITH_AS(none.load(), doctest::Contains("honest_seeds: must be 1 or more"),
                       UserError);
}

TEST_CASE("a suite for CUDA lies in a folder of its own and names the checks of its device") {
  Checkout checkout(mutant("    base: honest/plain.cpp\n    replace: a = 1\n    with: a = 2\n"));
  const std::string by = "    base: honest/warp.cu\n    replace: a = 1\n    with: a = 2\n";
  checkout.write("cuda/honest/warp.cu",
                 "// strategy: a warp a row\n// uses: any order\nint a = 1;");
  checkout.write("cuda/honest/tile.cuh", "int tile;");
  checkout.write("cuda/mutants.yaml",
                 "mutants:\n  - name: m\n    fault: f\n    killed_by: [third, fourth]\n" + by);
  const AuditSuite suite = checkout.load(Device::cuda);
  REQUIRE(suite.mutants.size() == 1);
  const SolutionSource& solution = suite.mutants[0].solution;
  CHECK(solution.device == Device::cuda);
  REQUIRE(solution.files.size() == 2);
  CHECK(solution.files[0].name == "solution.cu");
  CHECK(solution.files[1].name == "tile.cuh");
  REQUIRE(suite.honest.size() == 1);
  CHECK(freedom_taken(suite.honest[0].solution) == "any order");
  CHECK(checkout.load().honest.at(0).name == "plain");
  checkout.write("cuda/mutants.yaml", mutant(by));
  CHECK_THROWS_WITH_AS(checkout.load(Device::cuda),
                       doctest::Contains("'first' is no check of this challenge on cuda"),
                       UserError);
}
