// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/report.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/sandbox/harden.h"
#include "sandbox_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

TEST_CASE("the sandbox reports its walls, and these tests mean nothing without them") {
  const SandboxReport& report = probe_sandbox();
  for (const SandboxLayer& layer : report.layers) {
    INFO(layer.wall->name);
    CHECK_FALSE(layer.detail.empty());
  }
  CHECK(report.usable);
  CHECK(report.problem.empty());
  CHECK(contains(report.tier, "seccomp+rlimits"));
  CHECK(contains(report.tier, "uid") == (geteuid() == 0));
}

TEST_CASE(
    "a wall that is missing is a problem, a weakness or neither, as its line in the table says") {
  const auto without_one = [](std::string_view name) {
    std::vector<SandboxLayer> layers = probe_sandbox().layers;
    for (SandboxLayer& layer : layers) layer = {layer.wall, layer.wall->name != name, "a detail"};
    return report_of(layers);
  };
  for (const char* needed : {"seccomp", "rlimits", "sealed memory", "freeze"}) {
    INFO(needed);
    CHECK(without_one(needed).problem.starts_with(std::string(needed) + ": a detail."));
    CHECK_FALSE(without_one(needed).usable);
  }
  CHECK(without_one("uid").usable == (geteuid() != 0));
  CHECK(without_one("landlock").usable);
  CHECK(without_one("landlock").weakness ==
        "nothing stops reading and writing files of this machine: a detail");
  for (const char* extra : {"namespaces", "mounts", "cgroups"}) {
    INFO(extra);
    CHECK(without_one(extra).usable);
    CHECK(without_one(extra).weakness.empty());
    CHECK_FALSE(contains(without_one(extra).tier, extra));
  }
  CHECK(without_one("nothing").tier == "landlock+seccomp+rlimits+uid+namespaces+mounts+cgroups");
}

TEST_CASE("a wall is taken down by its name, and no other with it") {
  for (const Wall& down : all_walls()) {
    INFO(down.name);
    if (down.up == nullptr) {
      CHECK_THROWS_AS(without({std::string(down.name)}), UserError);
      continue;
    }
    const Walls walls = without({std::string(down.name)});
    for (const Wall& other : all_walls())
      if (other.up != nullptr) CHECK(walls.*other.up == (other.name != down.name));
  }
  CHECK_THROWS_WITH_AS(without({"limits"}),
                       doctest::Contains("no wall is called 'limits'; there are landlock, "),
                       UserError);
}

TEST_CASE("a hardened process dumps no core and is closed to its own user") {
  const pid_t pid = fork();
  if (pid == 0) {
    harden_this_process();
    rlimit core{1, 1};
    getrlimit(RLIMIT_CORE, &core);
    _exit(prctl(PR_GET_DUMPABLE) == 0 && core.rlim_max == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("a hardened process can still run commands") {
  const pid_t pid = fork();
  if (pid == 0) {
    harden_this_process();
    const CommandResult result = Box().shell("exit 5");
    const auto* end = std::get_if<Exited>(&result.outcome);
    _exit(end != nullptr && end->code == 5 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(status == 0);
}

TEST_CASE(
    "a sandbox that does not hold is refused, a weaker one unless somebody says that it will do") {
  SandboxReport report = probe_sandbox();
  require_sandbox(report, false);
  report.weakness = "no Landlock";
  CHECK_THROWS_WITH_AS(require_sandbox(report, false), doctest::Contains("--allow-weaker-sandbox"),
                       UserError);
  require_sandbox(report, true);
  report.usable = false;
  report.problem = "seccomp: the kernel refused the filter";
  CHECK_THROWS_WITH_AS(require_sandbox(report, true), doctest::Contains("seccomp"), UserError);
}
