// SPDX-License-Identifier: Apache-2.0
// For each fault of ours on the closed list, what a submission does that wants to be excused by it.
// It is counted against the submission, in each check that was asked.
#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/own_fault.h"
#include "harness/grading/cell.h"
#include "harness/run/local_runner.h"
#include "tests/end_to_end/grading_environment.h"

using namespace gauntlet;

namespace {

struct Attempt {
  OwnFault at;
  const char* name;
  std::string beside;  // of the backward pass: at load time, or while the compiler works
  std::string within;  // of it, before it returns without an answer
};

const std::vector<Attempt>& attempts() {
  // What is made here and comes to nothing leaves a gradient that was never written.
  static const std::vector<Attempt> kAttempts{
      {OwnFault::files, "an object as large as the disk", "char big[900000000] = {1};", ""},
      {OwnFault::files, "words of a full disk", "#error No space left on device", ""},
      {OwnFault::files, "files in memory without end", "",
       "for (;;) { int f = memfd_create(\"x\", 0); if (f < 0) break; "
       "for (int i = 0; i < 64; ++i) if (write(f, page, sizeof page) < 0) break; }"},
      {OwnFault::memory, "all memory that there is", "",
       "for (;;) memset(malloc(1 << 24), 1, 1 << 24);"},
      {OwnFault::memory, "addresses without end", "",
       "while (mmap(0, 1ul << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) "
       "!= MAP_FAILED) {} munmap((void*)((uintptr_t)a & ~4095ul), 1ul << 32);"},
      {OwnFault::process, "threads without end", "",
       "for (;;) std::thread([] { for (;;) pause(); }).detach();"},
      {OwnFault::process, "processes without end", "", "for (;;) fork();"},
      {OwnFault::process, "no process for anybody", "",
       "rlimit none{0, 0}; setrlimit(RLIMIT_NPROC, &none); kill(getpid(), SIGKILL);"},
      {OwnFault::kernel, "no descriptor left, none of its memory either", "",
       "for (int f = 0; f < 4096; ++f) close(f); munmap((void*)((uintptr_t)a->x & ~4095ul), "
       "1 << 20); munmap((void*)((uintptr_t)a & ~4095ul), 4096); raise(SIGSTOP);"},
      {OwnFault::kernel, "what /proc says of it", "",
       "prctl(PR_SET_DUMPABLE, 0); prctl(PR_SET_NAME, \") Z 1 (\"); syscall(SYS_exit, 0);"},
      {OwnFault::sandbox, "walls of its own", "",
       "unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID); chroot(\"/\"); setuid(0); "
       "prctl(PR_SET_SECCOMP, 2, 0); abort();"},
      {OwnFault::compiler, "words of a compiler that is not there",
       "#error g++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory", ""},
      {OwnFault::compiler, "a compiler that takes all memory",
       "template <class T> struct Pair { Pair<Pair<T>>* p; static const int n = Pair<Pair<T*>>::n "
       "+ Pair<Pair<T&>>::n; }; int n = Pair<int>::n;",
       ""},
      {OwnFault::worker, "an end while it is loaded",
       "__attribute__((constructor)) static void early() { _exit(0); }", ""},
      {OwnFault::worker, "a stop while it is loaded",
       "__attribute__((constructor)) static void early() { raise(SIGSTOP); for (;;) pause(); }",
       ""},
      {OwnFault::worker, "a library that lacks a symbol",
       "void nowhere(); __attribute__((constructor)) static void early() { nowhere(); }", ""},
      {OwnFault::own_solution, "the end of all that it may signal", "",
       "kill(-1, SIGKILL); kill(0, SIGKILL);"},
      {OwnFault::timing_lock, "locks on all that it holds and finds", "",
       "for (int f = 0; f < 1024; ++f) flock(f, LOCK_EX | LOCK_NB); "
       "flock(open(\"build/cache/timing.lock\", O_RDWR), LOCK_EX); sleep(3600);"},
      {OwnFault::crypto, "functions with the names of OpenSSL's",
       "extern \"C\" int EVP_EncryptUpdate() { abort(); } extern \"C\" int EVP_DigestUpdate() "
       "{ abort(); } extern \"C\" int RAND_bytes() { abort(); }",
       ""},
      {OwnFault::interrupted, "a signal to whoever grades", "",
       "for (int s : {SIGINT, SIGTERM, SIGKILL}) { kill(getppid(), s); kill(-getpgid(0), s); } "
       "abort();"},
      {OwnFault::cluster, "an end of all jobs of its user", "",
       "setenv(\"SLURM_JOB_ID\", \"1\", 1); for (const char* p : {\"/usr/bin/scancel\", "
       "\"/usr/local/bin/scancel\"}) execl(p, \"scancel\", \"--me\", nullptr); abort();"},
      {OwnFault::bug, "outputs that are no numbers", "",
       "for (int64_t i = 0; a->dx && i < a->cols; ++i) ((uint32_t*)a->dx)[i] = 0x7f800001 + i;"},
      {OwnFault::bug, "answers that no contract names", "", "return INT64_MIN;"},
      {OwnFault::bug, "words that are no text", "",
       "for (int i = 0; i < 256; ++i) putchar(i); puts(\"\\x1b[31m{\\\"broken\\\": "
       "\\\"x\\\"}\\n\"); "
       "fflush(stdout); *(volatile int*)0 = 1;"},
  };
  return kAttempts;
}

CellRequest request(const Attempt& attempt) {
  CellRequest request;
  request.submission = "hostile";
  request.challenge = load_challenge(GAUNTLET_ROOT, kChallenge);
  request.challenge.call_seconds = 1;
  request.challenge.memory_mib = 256;
  request.only_checks = {"all_gradients", "saved_state"};
  request.audit = attempt.at != OwnFault::own_solution;
  if (!request.audit) request.only_checks = {"speed"};  // where a solution of ours takes part
  request.solution.files.push_back({"solution.cpp", fmt::format(R"(
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include "contract.h"
static char page[1 << 20];
{}
extern "C" int64_t layernorm_saved_bytes(const LayernormArgs*) {{ return 0; }}
extern "C" int64_t layernorm_forward(const LayernormArgs*) {{ return 0; }}
extern "C" int64_t layernorm_backward(const LayernormArgs* a) {{
  (void)a; (void)page;
  {}
  return 0;
}}
)",
                                                                attempt.beside, attempt.within)});
  return request;
}

}  // namespace

TEST_CASE("no fault of ours is reached from a submission: it is counted against that") {
  std::vector<CellRequest> requests;
  for (const Attempt& attempt : attempts()) requests.push_back(request(attempt));
  const ScratchFolder cache("cache");  // where no build of before answers for these
  GradingEnvironment shop = environment();
  shop.cache = cache.path();
  const auto cells = LocalRunner(shop, 2).grade(requests, [](const CellEvent&) {});
  REQUIRE(cells.size() == attempts().size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    INFO(std::string(attempts()[i].name), "; built: ", cells[i].build.ok);
    if (!cells[i].build.ok) continue;  // which is a grade as well, and the lowest
    CHECK(cells[i].checks.size() == requests[i].only_checks.size());
    for (const CheckObservation& check : cells[i].checks) {
      INFO(check.info.id, ": ", check.finding ? check.finding->summary : "");
      CHECK(blames_submission(check.verdict));
    }
  }
}

TEST_CASE("each fault of ours on the list is tried for") {
  for (int i = 0; i < kOwnFaults; ++i)
    CHECK_MESSAGE(std::any_of(attempts().begin(), attempts().end(),
                              [i](const Attempt& one) { return static_cast<int>(one.at) == i; }),
                  name_of(static_cast<OwnFault>(i)));
}
