// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/rules.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "harness/core/error.h"
#include "harness/publish/artefacts.h"
#include "tests/publish/samples.h"

using namespace gauntlet;

namespace {

const RuleBook& book() {
  static const RuleBook kBook(
      Owner{"/srv/run-7/model", "/data/people/quentin", "box-42", {"Quentin Q"}});
  return kBook;
}

/// What a rule, and no other, finds in a text. Rules that are listed before it have what they find.
std::vector<std::string> found_by(const std::string& rule, const std::string& text) {
  std::vector<std::string> found;
  for (const Match& match : book().find(text))
    if (book().rule(match).id == rule)
      found.push_back(text.substr(match.begin, match.end - match.begin));
  return found;
}

/// As keys stand in a file.
std::string in_a_line(const std::string& key) {
  return "first line\n  " + key + " ;\nlast line\n";
}

}  // namespace

TEST_CASE("every rule finds its sample, and not what only looks like it") {
  for (const auto& sample : sample::rule_samples()) {
    INFO(sample.rule);
    const std::string found = in_a_line(sample::filled(sample.found));
    CHECK_MESSAGE(found_by(sample.rule, found).size() == 1, found);
    const std::string other =
        in_a_line(sample.not_found.empty() ? sample::filled(sample.found, 2)
                                           : sample::filled(sample.not_found));
    CHECK_MESSAGE(found_by(sample.rule, other).empty(), other);
  }
}

TEST_CASE("no rule is without a sample, and no id stands twice") {
  std::set<std::string> sampled;
  for (const auto& sample : sample::rule_samples()) sampled.insert(sample.rule);
  std::set<std::string> ids;
  const RuleBook nobodys{Owner{}};
  for (const Rule& rule : nobodys.rules()) {
    CHECK_MESSAGE(ids.insert(rule.id).second, rule.id);
    CHECK_MESSAGE(sampled.contains(rule.id), rule.id);
  }
  CHECK(ids.size() == sampled.size());
}

TEST_CASE("what tells whose folder it is comes from the machine and from the options") {
  const auto finds = [](const std::string& rule, const std::string& text) {
    return found_by(rule, text).size();
  };
  CHECK(finds("this-folder", "g++ /srv/run-7/model/solution.cpp") == 1);
  CHECK(finds("this-folder", "g++ /srv/run-7/model-2/solution.cpp") == 0);
  CHECK(finds("your-home", "/data/people/quentin: not found") == 1);
  CHECK(finds("your-home", "/data/people/quentine") == 0);
  CHECK(finds("this-host", "on BOX-42, pid 7") == 1);
  CHECK(finds("this-host", "on sandbox-42") == 0);
  CHECK(finds("name", "by quentin q (2026)") == 1);
  CHECK(finds("name", "by quentin quux") == 0);
  // Names that everybody has are nobody's.
  const RuleBook plain(Owner{"/model", "/root", "localhost", {}});
  CHECK(plain.find("/model/x /root/y on localhost").empty());
}

TEST_CASE("a name that is put in the place of names is refused, and so is half a letter") {
  CHECK_THROWS_AS(RuleBook(Owner{"", "", "", {"user"}}), UserError);
  CHECK_THROWS_AS(RuleBook(Owner{"", "", "", {"Host"}}), UserError);
  CHECK_THROWS_AS(RuleBook(Owner{"", "", "", {"q"}}), UserError);
}

TEST_CASE("keys are found in bytes of any kind, and across the windows of a long text") {
  const std::string key = sample::filled("ghp_{m:36}");
  CHECK(found_by("github-pat", std::string("\0\xff\xfe\xc3", 4) + key + std::string("\x80\0x", 3))
            .front() == key);
  for (const std::size_t before : {0, 1, 20, 39, 40, 41}) {
    std::string line((1 << 20) - before, 'y');  // one line, and one window until the key
    line += key;
    line.append(1 << 17, 'z');
    INFO(before);
    CHECK(found_by("github-pat", line).size() == 1);
  }
}

TEST_CASE("texts made to make patterns slow take time in proportion to their length") {
  for (const std::string piece : {"telegr telegr.-", "@a.a-@a.a-", "-----BEGIN PRIVATE KEY-----",
                                  "sk-eyeyey.ey", "/home/home/", "://a:a:a"}) {
    std::string text;
    while (text.size() < 300'000) text += piece;
    book().find(text);  // the test's own limit of time is what it would meet
  }
  CHECK(book().find("").empty());
}

TEST_CASE("files and folders that are made again are told from what people write") {
  const auto folder = [](const std::string& name, const std::string& witness) {
    return artefact_folder(name, [&](const std::string& asked) { return asked == witness; });
  };
  CHECK(folder("build", "CMakeCache.txt") == "build-folder");
  CHECK(folder("build-debug", ".ninja_log") == "build-folder");
  CHECK(folder("build", "notes.md").empty());
  CHECK(folder("venv", "pyvenv.cfg") == "cache-folder");
  CHECK(folder("venv", "").empty());
  CHECK(folder("__pycache__", "") == "cache-folder");
  CHECK(folder("kv_cache", "").empty());
  for (const char* name : {"x.o", "libx.so.1.2", "a.out", "core", "core.4711", "x.cpp~", ".x.swp",
                           ".env", "id_rsa", ".bash_history", "compile_commands.json"})
    CHECK_MESSAGE(!artefact_file(name).empty(), name);
  for (const char* name : {"solution.cpp", "tests.cpp", "model.yaml", "core.cpp", "core.h", "core.",
                           "weights.bin", "id_rsa.md", "x.osu", "claims.yaml", "answer.txt"})
    CHECK_MESSAGE(artefact_file(name).empty(), name);
  CHECK(artefact_content("\x7f"
                         "ELF\x02\x01") == "built-program");
  CHECK(artefact_content("MZ is how this text begins").empty());
  CHECK(artefact_content("").empty());
}

TEST_CASE("links that leave the folder are told from those that stay") {
  const auto leaves = [](const std::string& path, const std::string& target) {
    return !not_ours_to_remove({path, FolderEntry::Kind::link, 0, target}).empty();
  };
  CHECK(leaves("x", "/etc/passwd"));
  CHECK(leaves("x", "../x"));
  CHECK(leaves("a/x", "../../b"));
  CHECK(leaves("a/x", "y/../../../a"));
  CHECK(leaves("x", ""));
  CHECK(!leaves("a/x", "../b"));
  CHECK(!leaves("x", "./y//z"));
}
