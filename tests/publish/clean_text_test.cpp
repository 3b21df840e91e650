// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/clean_text.h"

#include <doctest/doctest.h>
#include <random>

#include "harness/core/source_text.h"
#include "harness/publish/diff.h"
#include "tests/publish/samples.h"

using namespace gauntlet;

namespace {

const RuleBook& all_rules() {
  static const RuleBook kBook(
      Owner{"/srv/run-7/model", "/data/people/quentin", "box-42", {"quentin"}});
  return kBook;
}

CleanText clean(const std::string& text, bool cpp = false) {
  return clean_text(all_rules(), text, cpp);
}

std::string token() {
  return sample::filled("ghp_{m:36}");
}

}  // namespace

TEST_CASE("what is found is replaced, nothing else, and a second run finds nothing") {
  for (const auto& sample : sample::rule_samples()) {
    INFO(sample.rule);
    const std::string text = "before\r\n" + sample::filled(sample.found) + " \nafter \xff\n";
    const CleanText once = clean(text);
    REQUIRE(!once.edits.empty());
    CHECK(once.left.empty());
    CHECK(once.text.starts_with("before\r\n"));
    CHECK(once.text.ends_with("\nafter \xff\n"));
    CHECK(once.text.find(sample::places_of(sample.found)) == std::string::npos);
    CHECK(all_rules().find(once.text).empty());
    CHECK(clean(once.text).text == once.text);
  }
}

TEST_CASE("texts stitched of samples and pieces of them are clean after one run") {
  std::mt19937 random(20);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto& samples = sample::rule_samples();
  const std::vector<std::string> glue{"",    " ",      "\n", "=",     ":",       "\"",
                                      "@",   "/home/", "//", "-",     "\\",      ".",
                                      "sk-", "'",      ",",  "USER=", "quentin", "ssh "};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::size_t i = 0; i < 2 + below(6); ++i) {
      const std::string whole = sample::filled(samples[below(samples.size())].found);
      const std::size_t from = below(3) == 0 ? below(whole.size()) : 0;
      text += glue[below(glue.size())] + whole.substr(from) + glue[below(glue.size())];
    }
    const CleanText once = clean(text);
    INFO(text);
    INFO(once.text);
    CHECK(edited(text, once.edits) == once.text);
    CHECK(once.left.empty());
    CHECK(all_rules().find(once.text).empty());
    std::size_t at = 0;
    for (const Edit& edit : once.edits) {
      CHECK(edit.begin >= at);
      CHECK(edit.end > edit.begin);
      at = edit.end;
    }
    CHECK(at <= text.size());
  }
}

TEST_CASE("in C++ comments and literals are replaced, and the code is the same") {
  const std::string source =
      "// built in /home/alice/x by quentin\n"
      "#include <vector> /* mail: a.b@firm.org; */\n"
      "#define DATA \"/home/alice/data\"\n"
      "int f() { return 1; }  // alice@box7:~/work$\n"
      "const char* key = u8\"" +
      token() +
      "\";\n"
      "const char* raw = R\"x(/home/alice/\")x\";\n";
  const CleanText once = clean(source, true);
  CHECK(once.left.empty());
  CHECK(once.text ==
        "// built in /home/user/x by user\n"
        "#include <vector> /* mail: user@example.com; */\n"
        "#define DATA \"/home/user/data\"\n"
        "int f() { return 1; }  // user@host:~/work$\n"
        "const char* key = u8\"REMOVED\";\n"
        "const char* raw = R\"x(/home/user/\")x\";\n");
  const std::string comment = "int a; // /home/alice/\\\n  bb@firm.org ?\nint c; /* quentin */\n";
  const CleanText commented = clean(comment, true);
  CHECK(commented.edits.size() == 3);
  CHECK(significant_text(commented.text) == significant_text(comment));
}

TEST_CASE("in C++ names, included files and what would break a literal are left to a person") {
  const auto left = [](const std::string& source) {
    const CleanText once = clean(source, true);
    CHECK(once.edits.empty());
    CHECK(once.text == source);
    return once.left.size();
  };
  CHECK(left("#include \"/home/alice/y.h\"\n") == 1);
  CHECK(left("  #  include </home/alice/y.h>\n") == 1);
  CHECK(left("#line 3 \"/home/alice/y.cpp\"\n") == 1);
  CHECK(left("#define OPEN \\\n \"/home/alice/y.h\"\n") == 1);
  CHECK(left("int quentin = 1;\n") == 1);
  CHECK(left("const char* parts = \"/home\" \"/x\"; int " + token() + " = 1;\n") == 1);
  // The same line of a log is nobody's program.
  CHECK(clean("int quentin = 1;\n").edits.size() == 1);
}

TEST_CASE("an escape that a finding cuts in two is no way to break a literal") {
  // The value ends in the backslash that keeps the quote inside the literal.
  const std::string source =
      "const char* a = \"SERVICE_API_KEY=" + sample::filled("{m:24}") + "\\\" + quentin\";\n";
  const CleanText once = clean(source, true);
  CHECK(once.text.find("\\\" + user\";") != std::string::npos);
}

TEST_CASE("a diff shows what changes and never what is secret") {
  std::string text;
  for (int i = 1; i <= 40; ++i) text += "line " + std::to_string(i) + "\n";
  text += "token " + token() + " here\nnext\n" + std::string(5000, 'y') + " " + token() + " " +
          std::string(5000, 'z') + "\nlast\x1b[31m\n";
  const std::string diff = masked_diff("a.log", text, clean(text));
  CHECK(diff.find(token().substr(0, 5)) == std::string::npos);
  CHECK(diff.find("--- a.log\n+++ a.log\n@@ -38,7 +38,7 @@\n line 38\n") == 0);
  CHECK(diff.find("-token ghp_*** here\n") != std::string::npos);
  CHECK(diff.find("+token REMOVED here\n") != std::string::npos);
  CHECK(diff.find('\x1b') == std::string::npos);
  CHECK(diff.size() < 3000);
  CHECK(masked_diff("a.log", "nothing\n", clean("nothing\n")).empty());
}

TEST_CASE("a key of several lines is one line in the diff, and counted from there on") {
  std::string text =
      "one\n" +
      sample::filled(
          "-----BEGIN RSA {}PRIVATE KEY-----\n{m:64}\n{m:40}\n-----END RSA {}PRIVATE KEY-----") +
      "\n";
  for (int i = 0; i < 20; ++i) text += "two\n";
  text += token() + "\n";
  const std::string diff = masked_diff("k", text, clean(text));
  CHECK(diff.find("@@ -1,8 +1,5 @@\n one\n-----***\n-\n-\n-\n") != std::string::npos);
  CHECK(diff.find("+REMOVED\n two\n") != std::string::npos);
  CHECK(diff.find("@@ -23,4 +20,4 @@\n") != std::string::npos);
  CHECK(diff.find(sample::filled("{m:8}")) == std::string::npos);
}

TEST_CASE("what is left is masked where it stands beside an edit") {
  const std::string source = "int " + token() + " = 1;  // " + token() + "\n";
  const CleanText once = clean(source, true);
  REQUIRE(once.left.size() == 1);
  REQUIRE(once.edits.size() == 1);
  const std::string diff = masked_diff("a.cpp", source, once);
  CHECK(diff.find(token().substr(0, 5)) == std::string::npos);
  CHECK(diff.find("+int ghp_*** = 1;  // REMOVED\n") != std::string::npos);
}

TEST_CASE("of a secret at most four characters are shown, and at most a quarter") {
  CHECK(first_characters("abc") == "***");
  CHECK(first_characters("abcdefgh") == "ab***");
  CHECK(first_characters(token()) == "ghp_***");
  CHECK(first_characters("\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b") == "***");
  CHECK(masked(all_rules(), "a " + token() + "\n\x1b.log") == "a ghp_*** \xEF\xBF\xBD.log");
}
