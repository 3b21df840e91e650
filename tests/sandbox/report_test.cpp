#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/sandbox/harden.h"
#include "harness/sandbox/report.h"
#include "sandbox_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

TEST_CASE("the sandbox reports its walls, and these tests mean nothing without them") {
  const SandboxReport& report = probe_sandbox();
  for (const SandboxLayer& layer : report.layers) {
    CHECK_FALSE(layer.name.empty());
    CHECK_FALSE(layer.detail.empty());
  }
  CHECK(report.usable);
  CHECK(report.problem.empty());
  CHECK(contains(report.tier, "seccomp+rlimits"));
  CHECK(contains(report.tier, "uid") == (geteuid() == 0));
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
