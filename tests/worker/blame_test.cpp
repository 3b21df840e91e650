// SPDX-License-Identifier: Apache-2.0
// Whatever a solution does to its own process, the failure is its own: never ours, and never a
// measurement that is left out.

#include <fmt/format.h>

#include "control_page.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

// Ends the main thread, and carries orders out in another one: says "done" and nothing else.
const char* const kHeadless = R"(
  #include <pthread.h>
  static void* pretend(void* argument) {
    auto* page = (volatile uint32_t*)argument;
    usleep(200000);  // by then the main thread has ended, on a busy machine too
    for (;; usleep(50))
      if (page[17] != page[0]) {
        page[17] = page[0];
        page[16] = page[16] + 1;
        syscall(SYS_futex, page + 16, FUTEX_WAKE, 1, nullptr, nullptr, 0);
      }
  }
  static int64_t leave_main_thread() {
    Found found;
    dl_iterate_phdr(search, &found);
    pthread_t thread;
    if (found.page == nullptr) return -1;
    if (pthread_create(&thread, nullptr, pretend, (void*)found.page) != 0) return -2;
    syscall(SYS_exit, 0);
    return -3;
  }
)";

/// How a first call and three more, of another shape and with memory measured, end.
Ending ending_of_calls(const std::string& body, const std::string& before) {
  Solution solution(work(body, before));
  solution.config.call_seconds = 2;
  solution.config.memory_bytes = std::size_t{64} << 20;
  solution.open();
  for (const std::size_t count : {256, 512, 512, 100'000}) {
    WorkCall call(count);
    call.measure_memory = count != 256;
    if (Ending end = ending_of(*solution.session, call); end.verdict != Verdict::passed) return end;
  }
  return {};
}

}  // namespace

TEST_CASE("a process whose main thread has ended while another one serves has failed") {
  const Ending end =
      ending_of_calls("return leave_main_thread();", std::string(kFindControlPage) + kHeadless);
  CHECK(end.verdict == Verdict::crashed);
  CHECK(end.text == "ended its main thread in `work`, and had others go on");
}

TEST_CASE("memory is watched although the main thread has ended") {
  const Ending end = ending_of_calls(R"(
    static pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* {
      usleep(20000);
      for (size_t i = 0; i < 200; ++i) memset(malloc(1 << 20), 1, 1 << 20);
      for (;;) pause();
    }, nullptr);
    syscall(SYS_exit, 0);
    return 0;
  )",
                                     "#include <pthread.h>\n#include <stdlib.h>\n#include "
                                     "<string.h>\n#include <sys/syscall.h>\n#include <unistd.h>");
  CHECK(end.verdict == Verdict::crashed);
  CHECK(contains(end.text, "ended its main thread"));
}

TEST_CASE("an end of the whole process is told as what it was, however much memory it held") {
  const Ending end = ending_of_calls("memset(malloc(60 << 20), 1, 60 << 20); abort();",
                                     "#include <stdlib.h>\n#include <string.h>");
  CHECK(contains(end.text, "SIGABRT"));
}

// What stays Broken (worker_session.h lists it) is tried for by every means that a process has over
// itself; a means that comes to nothing leaves an honest answer.
TEST_CASE("nothing that a solution does to its process is taken for our fault") {
  const char* const kHeaders = R"(
    #include <dirent.h>
    #include <fcntl.h>
    #include <linux/futex.h>
    #include <pthread.h>
    #include <sched.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/prctl.h>
    #include <sys/resource.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <thread>
    #include <unistd.h>
    static void limit(int what, rlim_t value) {
      const rlimit both{value, value};
      syscall(SYS_prlimit64, 0, what, &both, nullptr);
    }
  )";
  const std::string kMeans[] = {
      "prctl(PR_SET_DUMPABLE, 0); prctl(PR_SET_PDEATHSIG, 9); prctl(PR_SET_PTRACER, 1);",
      "prctl(PR_SET_MM, 1, 0, 0, 0); prctl(PR_SET_CHILD_SUBREAPER, 1);",
      "for (int fd = 0; fd < 1024; ++fd) { fcntl(fd, F_ADD_SEALS, 31); close(fd); }",
      "for (int fd = 0; fd < 64; ++fd) { fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC); dup(fd); }",
      "for (int what = 0; what < 16; ++what) limit(what, 0);",
      "limit(RLIMIT_NPROC, 1); limit(RLIMIT_NOFILE, 0); limit(RLIMIT_STACK, 4096);",
      "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr);",
      "for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);",
      "itimerval soon{{0, 100}, {0, 100}}; setitimer(ITIMER_REAL, &soon, nullptr);",
      "itimerval soon{{0, 1}, {0, 1}}; signal(SIGALRM, SIG_IGN); "
      "setitimer(ITIMER_REAL, &soon, nullptr);",
      "for (int i = 0; i < 5000; ++i) std::thread([] { for (;;) pause(); }).detach();",
      "for (int i = 0; i < 60; ++i) std::thread([] { for (;;) sched_yield(); }).detach();",
      "for (int i = 0; i < 30; ++i) std::thread([] { syscall(SYS_exit, 0); }).detach();",
      "std::thread([] { usleep(300); syscall(SYS_exit_group, 0); }).detach(); usleep(250);",
      "std::thread([] { usleep(300); raise(SIGKILL); }).detach(); usleep(250);",
      "for (uintptr_t at = 4096; at < 1ul << 47; at += 1ul << 30) munmap((void*)at, 1ul << 30);",
      "munmap((void*)((uintptr_t)args->y & ~4095ul), 1 << 20);",
      "mprotect((void*)((uintptr_t)args->y & ~4095ul), 4096, PROT_NONE);",
      "madvise((void*)((uintptr_t)args->y & ~4095ul), 4096, MADV_REMOVE);",
      "madvise((void*)((uintptr_t)args->x & ~4095ul), 4096, MADV_REMOVE);",
      "mremap((void*)((uintptr_t)args->y & ~4095ul), 4096, 1 << 20, MREMAP_MAYMOVE);",
      "for (int i = 0; i < 70000; ++i) mmap(nullptr, 4096, i % 2, MAP_PRIVATE | MAP_ANONYMOUS, -1, "
      "0);",
      "cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one); sched_setaffinity(0, sizeof one, &one);",
      "prctl(PR_SET_NAME, \") T 1 (\"); pthread_setname_np(pthread_self(), \"\\n\\n) Z 1\");",
      "syscall(SYS_exit, 0);",
      "pthread_exit(nullptr);",
      "struct timespec long_time{100, 0}; syscall(SYS_futex, args->y, FUTEX_WAIT, 0, &long_time);",
      "syscall(SYS_set_robust_list, args->y, 24); syscall(SYS_set_tid_address, args->y);",
      "syscall(SYS_rseq, 0, 0, 0, 0); syscall(SYS_unshare, 0x10000000);",
      "syscall(SYS_ptrace, 0, 0, 0, 0);",
  };
  std::string body = "switch (args->mode) {\n";
  for (std::size_t i = 0; i < std::size(kMeans); ++i)
    body += fmt::format("case {}: {{ {} }} break;\n", i, kMeans[i]);
  Solution solution(work(body + "}\nargs->y[0] = 1;\nreturn 0;", kHeaders));
  solution.config.call_seconds = 1;
  solution.config.memory_bytes = std::size_t{64} << 20;
  for (std::size_t i = 0; i < std::size(kMeans); ++i) {
    solution.open();
    solution.session->keep_threads_apart();
    for (const std::size_t count : {512, 2048, 512}) {
      WorkCall call(count, static_cast<std::int64_t>(i));
      call.measure_memory = true;
      CHECK_NOTHROW_MESSAGE(ending_of(*solution.session, call), kMeans[i]);
    }
    CHECK_NOTHROW_MESSAGE(solution.session->restart(), kMeans[i]);
  }
}
