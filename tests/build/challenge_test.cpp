// SPDX-License-Identifier: Apache-2.0
#include "harness/build/challenge.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sstream>

#include "harness/core/error.h"
#include "harness/core/files.h"

using namespace gauntlet;

namespace {

/// A checkout with one challenge in it.
struct Checkout {
  ScratchFolder folder{"test"};

  explicit Checkout(const std::string& yaml) {
    write_file(folder.path() / "challenges/kv_cache/challenge.yaml", yaml);
    write_file(folder.path() / "challenges/kv_cache/PROMPT.md", "Write it.");
    write_file(folder.path() / "challenges/kv_cache/contract.h", "int f(void);");
  }

  Challenge load() const { return load_challenge(folder.path(), "kv_cache"); }

  std::string complaint() const {
    try {
      load();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no complaint";
  }
};

const std::string kGood = "title: KV cache\ndifficulty: medium\nround: 1\nexports: [kv_append]\n";

}  // namespace

TEST_CASE("a challenge is read, with the usual limits where none are given") {
  const Challenge plain = Checkout(kGood).load();
  CHECK(plain.id == "kv_cache");
  CHECK(plain.title == "KV cache");
  CHECK(plain.exports == std::vector<std::string>{"kv_append"});
  CHECK(plain.memory_mib == 2048);
  CHECK(plain.check_seconds == 120);
  CHECK(plain.cell_seconds == 600);
  const Challenge limited = Checkout(kGood + "limits: {call_seconds: 2.5, arena_mib: 64}\n").load();
  CHECK(limited.call_seconds == 2.5);
  CHECK(limited.arena_mib == 64);
}

TEST_CASE("a wrong challenge file is told with file, line and key") {
  const std::string file = "challenges/kv_cache/challenge.yaml:";
  CHECK(Checkout(kGood + "limits: {call_secnds: 2}\n").complaint() ==
        file + "5: limits.call_secnds: is no known key, did you mean 'call_seconds'?");
  CHECK(Checkout(kGood + "limits: {call_seconds: 0}\n").complaint() ==
        file + "5: limits.call_seconds: must be more than 0");
  CHECK(Checkout(kGood + "limits: {call_seconds: 121}\n").complaint() ==
        file + "5: limits.check_seconds: must leave time for a call: 121 or more");
  CHECK(Checkout(kGood + "limits: {check_seconds: 700}\n").complaint() ==
        file + "5: limits.cell_seconds: must leave time for a check: 700 or more");
  CHECK(Checkout("title: x\ndifficulty: y\nround: 1\nexports: ['f; g']\n").complaint() ==
        file + "4: exports: 'f; g' is no C function name");
  CHECK(Checkout("title: x\ndifficulty: y\nround: 0\nexports: [f]\n").complaint() ==
        file + "3: round: must be 1 or more");
}

TEST_CASE("a challenge may have further sizes, with other limits") {
  const Checkout checkout(kGood +
                          "sizes: {large: {call_seconds: 100, cell_seconds: 999}, huge: {}}\n");
  CHECK(checkout.load().entry() == "kv_cache");
  CHECK(checkout.load().call_seconds == 10);
  CHECK(checkout.load().sizes == std::vector<std::string>{"large", "huge"});
  const Challenge large = load_challenge(checkout.folder.path(), "kv_cache.large");
  CHECK(large.id == "kv_cache");
  CHECK(large.entry() == "kv_cache.large");
  CHECK(large.call_seconds == 100);
  CHECK(large.cell_seconds == 999);
  CHECK_THROWS_WITH_AS(load_challenge(checkout.folder.path(), "kv_cache.lage"),
                       doctest::Contains("has no size 'lage', did you mean 'large'?"), UserError);
  CHECK_THROWS_WITH_AS(load_challenge(Checkout(kGood).folder.path(), "kv_cache.large"),
                       doctest::Contains("none but the standard one"), UserError);
}

namespace {

/// A prompt without its line ends.
std::string prompt_of(const Challenge& challenge, Device device) {
  std::istringstream words(challenge.prompt(device));
  std::string prompt;
  for (std::string word; words >> word;) prompt += word + ' ';
  return prompt;
}

}  // namespace

TEST_CASE("every prompt says which tests count and how large a submission may be") {
  for (const std::string& id : challenge_ids(GAUNTLET_ROOT)) {
    CAPTURE(id);
    const std::string prompt = prompt_of(load_challenge(GAUNTLET_ROOT, id), Device::cpu);
    for (const char* rule :
         {"refusing it counts only if the tests accept that correct one.",
          "All files of a submission together hold at most 256 KiB; a larger one is refused."})
      CHECK(prompt.find(rule) != std::string::npos);
  }
}

TEST_CASE("every prompt says what calls may take together, as the limits have it") {
  for (const std::string& id : challenge_ids(GAUNTLET_ROOT)) {
    const Challenge standard = load_challenge(GAUNTLET_ROOT, id);
    std::vector<std::string> entries{id};
    for (const std::string& size : standard.sizes) entries.push_back(id + "." + size);
    for (const Device device : standard.devices)
      for (const std::string& entry : entries) {
        CAPTURE(entry);
        CAPTURE(name_of(device));
        const Challenge challenge = load_challenge(GAUNTLET_ROOT, entry);
        CHECK(prompt_of(standard, device)
                  .find(fmt::format("{:g} seconds together, those of all checks {:g} seconds",
                                    challenge.check_seconds, challenge.cell_seconds)) !=
              std::string::npos);
      }
  }
}

TEST_CASE("an unknown challenge is answered with the nearest one") {
  const Checkout checkout(kGood);
  CHECK_THROWS_WITH_AS(load_challenge(checkout.folder.path(), "kv_cahce"),
                       "no challenge 'kv_cahce', did you mean 'kv_cache'?; known: kv_cache",
                       UserError);
  CHECK_THROWS_AS(load_challenge(checkout.folder.path(), "../kv_cache"), UserError);
}

TEST_CASE("the prompt's digest follows the prompt and the contract") {
  const Checkout checkout(kGood);
  const std::string before = checkout.load().prompt_digest(Device::cpu);
  write_file(checkout.folder.path() / "challenges/kv_cache/contract.h", "int g(void);");
  CHECK(checkout.load().prompt_digest(Device::cpu) != before);
}

TEST_CASE("a challenge is graded on the CPU, and on the devices that it names") {
  const Challenge usual = Checkout(kGood).load();
  CHECK(usual.devices == std::vector<Device>{Device::cpu});
  CHECK(usual.why_not_on(Device::cuda) == "kv_cache is graded on cpu only, not on cuda");
  const Checkout checkout(std::string(kGood) + "devices: [cpu, cuda]\n");
  const Challenge both = checkout.load();
  CHECK(both.is_graded_on(Device::cuda));
  CHECK(both.why_not_on(Device::cuda).empty());
  CHECK_THROWS_WITH_AS(Checkout(std::string(kGood) + "devices: [gpu]\n").load(),
                       doctest::Contains("'gpu' is no device; known: cpu, cuda"), UserError);
}

TEST_CASE("what is handed out for CUDA is the challenge's own prompt and what holds for all") {
  const Checkout checkout(std::string(kGood) + "devices: [cpu, cuda]\n");
  const std::filesystem::path challenges = checkout.folder.path() / "challenges";
  write_file(challenges / "kv_cache/PROMPT.cuda.md", "Write kernels.\n");
  write_file(challenges / "cuda.md", "Kernels may use shared memory.\n");
  const Challenge challenge = checkout.load();
  CHECK(challenge.prompt(Device::cuda) == "Write kernels.\n\nKernels may use shared memory.\n");
  const std::string cpu = challenge.prompt_digest(Device::cpu);
  const std::string cuda = challenge.prompt_digest(Device::cuda);
  CHECK(cpu != cuda);
  write_file(challenges / "cuda.md", "Kernels may use registers.\n");
  CHECK(checkout.load().prompt_digest(Device::cpu) == cpu);
  CHECK(checkout.load().prompt_digest(Device::cuda) != cuda);
}

TEST_CASE("a folder that is no checkout is named as such") {
  const ScratchFolder empty("test");
  CHECK_THROWS_WITH_AS(challenge_ids(empty.path()), doctest::Contains("is no Gauntlet checkout"),
                       UserError);
}
