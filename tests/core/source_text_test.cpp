// SPDX-License-Identifier: Apache-2.0
#include "harness/core/source_text.h"

#include <doctest/doctest.h>
#include <filesystem>

#include "harness/core/files.h"

using namespace gauntlet;

TEST_CASE("comments and formatting are not significant, all else is") {
  const std::string plain =
      significant_text("#define F(x) (x + 1)\nint  main() { return F(2); }\n");
  for (const char* same : {
           "#define F(x) (x + 1)\n\n// why\nint main()\n{\n  return F(2);  // two\n}\n",
           "/* head */\n#define F(x) (x + 1)\nint main() { return F( 2 ) ; }",
           "  #define F(x) \\\n (x + 1)\nint/**/main() { // a \\\n comment goes on\n return F(2); "
           "}",
       }) {
    INFO(same);
    CHECK(significant_text(same) == plain);
  }
  for (const char* other : {
           "#define F(x) (x + 2)\nint main() { return F(2); }\n",
           "#define F (x) (x + 1)\nint main() { return F(2); }\n",
           "#define F(x) (x + 1) int main() { return F(2); }\n",
           "#define F(x) (x + 1)\nintmain() { return F(2); }\n",
       }) {
    INFO(other);
    CHECK(significant_text(other) != plain);
  }
}

TEST_CASE("what looks like a comment in a literal stays, and literals keep their spaces") {
  CHECK(significant_text("f(\"a // b\", '\"', 1);") == "f(\"a // b\",'\"',1);");
  CHECK(significant_text("g(R\"x( /* \" */ )x\"); // end") == "g(R\"x( /* \" */ )x\");");
  CHECK(significant_text("n = 1'000'000; // '") == "n=1'000'000;");
  CHECK(significant_text("s = \"\\\"// \";//") == "s=\"\\\"// \";");
  CHECK(significant_text("a + +b") != significant_text("a ++b"));
  CHECK(significant_text("x = 'open") == "x='open");  // ends with the text
}

TEST_CASE("a comment planted in any source of ours changes nothing") {
  int seen = 0;
  for (const char* top : {"harness/core", "harness/worker", "graders/kit"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(GAUNTLET_ROOT) / top)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      INFO(entry.path().string());
      const std::string text = read_file(entry.path());
      const std::string commented = "// planted\n" + text + "\n/* planted \" */\n";
      CHECK(significant_text(commented) == significant_text(text));
      CHECK(significant_text(text).size() < text.size());
      ++seen;
    }
  CHECK(seen > 40);
}
