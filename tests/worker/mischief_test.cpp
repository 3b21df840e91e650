// SPDX-License-Identifier: Apache-2.0
// Solutions that crash, hang, hog or cheat, and what is said about them.

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "control_page.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

TEST_CASE("one element too many is caught at the page after the buffer") {
  const Ending end = ending_of("args->y[args->count] = 1; return 0;");
  CHECK(end.verdict == Verdict::crashed);
  CHECK(contains(end.text, "SIGSEGV in `work` writing 1 byte past the end of `y`"));
}

TEST_CASE("one element too many is caught in the slack where alignment leaves some") {
  const Solution solution(work("args->y[args->count] = 1; return 0;"));
  WorkCall call(250);  // 1000 bytes: 24 below the next multiple of 64
  const Ending end = ending_of(*solution.session, call);
  CHECK(end.verdict == Verdict::wrong);
  CHECK(contains(end.text, "4 bytes past the end of `y`"));
}

TEST_CASE("one element before the start is caught") {
  const Solution solution(work("args->y[-1] = 1; return 0;"));
  WorkCall call(250);
  const Ending end = ending_of(*solution.session, call);
  CHECK(end.verdict == Verdict::wrong);
  CHECK(contains(end.text, "4 bytes before the start of `y`"));
  WorkCall whole(1024, 0, {4096, 0});
  CHECK(contains(ending_of(*solution.session, whole).text, "4 bytes before the start of `y`"));
}

TEST_CASE("-1 is seen behind an end, where poison would hide it") {
  for (const std::string type : {"signed char", "int", "long"}) {
    CAPTURE(type);
    const Solution solution(work("((" + type + "*)(args->y + args->count))[0] = -1; return 0;"));
    WorkCall call(250);
    const Ending end = ending_of(*solution.session, call);
    CHECK(end.verdict == Verdict::wrong);
    CHECK(contains(end.text, "past the end of `y`"));
  }
}

TEST_CASE("a row too many is caught too: more than one page faults") {
  const Ending end = ending_of("args->y[args->count + 8000] = 1; return 0;");
  CHECK(end.verdict == Verdict::crashed);
  CHECK(contains(end.text, "past the end of `y`"));
}

TEST_CASE("reading past an input is caught") {
  const Ending end = ending_of("volatile float f = args->x[args->count]; return f > 0;");
  CHECK(end.verdict == Verdict::crashed);
  CHECK(contains(end.text, "SIGSEGV in `work` reading 1 byte past the end of `x`"));
}

TEST_CASE("writing to an input is caught") {
  const Ending end = ending_of("((float*)args->x)[3] = 1; return 0;");
  CHECK(end.verdict == Verdict::crashed);
  CHECK(contains(end.text, "read-only input"));
  CHECK(contains(end.text, "`x`, at byte 12 of 1024"));
}

TEST_CASE("the kernel does not let a solution make its input writable") {
  const Solution solution(work(R"(
    void* page = (void*)((uintptr_t)args->x & ~(uintptr_t)4095);
    return mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0;
  )",
                               "#include <sys/mman.h>"));
  WorkCall call(256);
  solution.session->run(call);
  CHECK(call.returned == 0);
}

TEST_CASE("undoing the protection after an output does not hide an overrun") {
  const Ending end = ending_of(R"(
    uintptr_t page = ((uintptr_t)(args->y + args->count) + 4095) & ~(uintptr_t)4095;
    if (mprotect((void*)page, 4096, PROT_READ | PROT_WRITE) != 0) return -1;
    *(float*)page = 1;
    return 0;
  )",
                               "#include <sys/mman.h>");
  CHECK(end.verdict == Verdict::wrong);
  CHECK(contains(end.text, "past the end of `y`, on a page that was protected"));
}

TEST_CASE("crashes are told apart") {
  CHECK(contains(ending_of("return *(volatile int*)0;").text, "reading through a null pointer"));
  CHECK(contains(ending_of("abort();", "#include <stdlib.h>").text, "SIGABRT"));
  CHECK(contains(ending_of("volatile int zero = 0; return 7 / zero;").text, "SIGFPE"));
  CHECK(contains(ending_of("return deep(args->count);",
                           "static int64_t deep(int64_t n) { volatile char page[4096]; page[0] = 1;"
                           " return n == 0 ? page[0] : deep(n + 1) + page[0]; }")
                     .text,
                 "stack overflowed"));
  const Ending thrown = ending_of("throw std::runtime_error(\"no luck\");", "#include <stdexcept>");
  CHECK(thrown.verdict == Verdict::crashed);
  CHECK(contains(thrown.text, "uncaught std::runtime_error: no luck"));
}

TEST_CASE("ending the process is no answer, whatever the exit code") {
  for (const char* way :
       {"exit(0);", "_exit(0);", "std::thread([] { _exit(0); }).join(); return 0;"}) {
    const Ending end =
        ending_of(way, "#include <stdlib.h>\n#include <unistd.h>\n#include <thread>");
    CHECK(end.verdict == Verdict::crashed);
    CHECK(contains(end.text, "ended its process with exit code 0 in `work`"));
  }
}

TEST_CASE("a crash or an exit while the library is loaded is told as such") {
  const Ending crashed =
      ending_of("return 0;", "struct Now { Now() { *(volatile int*)8 = 1; } } now;");
  CHECK(crashed.verdict == Verdict::crashed);
  CHECK(contains(crashed.text, "while it was loaded"));
  const Ending left =
      ending_of("return 0;", "#include <unistd.h>\nstatic int now = (_exit(0), 1);");
  CHECK(left.verdict == Verdict::crashed);
  CHECK(contains(left.text, "exit code 0 while it was loaded"));
}

TEST_CASE("a hang ends at the time limit, asleep, busy or stopped") {
  for (const char* way : {"for (volatile int64_t i = 0;; i = i + 1) {}", "while (true) sleep(100);",
                          "pause(); return 0;"}) {
    Solution solution(work(way, "#include <unistd.h>"));
    solution.config.call_seconds = 0.3;
    solution.open();
    WorkCall call(4);
    const auto start = std::chrono::steady_clock::now();
    const Ending end = ending_of(*solution.session, call);
    CHECK(end.verdict == Verdict::timed_out);
    CHECK(end.text == "no answer from `work` after 0.3 s");
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  }
}

TEST_CASE("memory beyond the limit is refused or noticed") {
  const Ending at_once =
      ending_of("std::vector<char> much(4ull << 30, 1); return much[7];", "#include <vector>");
  CHECK(at_once.verdict == Verdict::over_memory);
  // By the allocator where there is not as much to be had, by the watch over the process elsewhere.
  const bool told = contains(at_once.text, "std::bad_alloc") ||
                    contains(at_once.text, "used more than 512 MiB in `work`");
  CHECK_MESSAGE(told, at_once.text);
  const Ending little_by_little = ending_of(R"(
    for (int i = 0; i < 100000; ++i) memset(malloc(1 << 20), 1, 1 << 20);
    return 0;
  )",
                                            "#include <stdlib.h>\n#include <string.h>");
  CHECK(little_by_little.verdict == Verdict::over_memory);
  CHECK(contains(little_by_little.text, "used more than 512 MiB in `work`"));
}

TEST_CASE("printing without end is stopped, and neither blocks nor fills us") {
  const Ending end = ending_of(
      "for (int i = 0; i < 32 * 1024; ++i) puts(line); return 0;",
      "#include <stdio.h>\n#include <string>\n#include <string.h>\nstatic const char* line = "
      "strdup(std::string(1023, 'x').c_str());"
      "\n");
  CHECK(end.verdict == Verdict::crashed);
  CHECK(contains(end.text, "printed more than 16 MiB"));
}

TEST_CASE("printing a few megabytes blocks nobody and keeps the beginning") {
  const Solution solution(work(
      "for (int i = 0; i < 4096; ++i) printf(\"%01023d\\n\", i); return 5;", "#include <stdio.h>"));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(call.returned == 5);
  CHECK(solution.session->output().size() == 64 * 1024);
}

TEST_CASE("a thread that goes on writing after the return is frozen while we read") {
  const Solution solution(work(R"(
    static std::thread writer([y = args->y, n = args->count] {
      for (float value = 0;; value += 1)
        for (int64_t i = 0; i < n; ++i) ((volatile float*)y)[i] = value;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 0;
  )",
                               "#include <thread>\n#include <chrono>"));
  WorkCall call(4096);
  solution.session->run(call);
  const std::vector<float> first = call.y.copy();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK(call.y.copy() == first);
}

TEST_CASE("a forged \"done\" does not win time: what it writes afterwards is not read") {
  // Looks through the worker's own variables for a pointer to the control page, which it knows by
  // its numbers, and answers the order itself. protocol.h says where they lie.
  const Solution solution(work(R"(
    Found found;
    dl_iterate_phdr(search, &found);
    if (found.page == nullptr) return -1;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    found.page[17] = found.page[0];
    found.page[16] += 1;
    syscall(SYS_futex, found.page + 16, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    usleep(50000);
    for (int64_t i = 0; i < args->count; ++i) args->y[i] = 1;
    usleep(50000);
    return 0;
  )",
                               std::string("#include <atomic>\n") + kFindControlPage));
  WorkCall call(4096);
  solution.session->run(call);
  CHECK(call.returned != -1);  // it did find the page
  CHECK(call.elapsed < std::chrono::milliseconds(50));
  const auto untouched = [&] {
    const auto y = call.y.view();
    return std::none_of(y.begin(), y.end(), [](float f) { return f == 1; });
  };
  CHECK(untouched());
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  CHECK(untouched());
}

TEST_CASE("no timer and no signal of its own wakes a frozen solution") {
  const Solution solution(work(R"(
    struct sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer;
    const int made = timer_create(CLOCK_MONOTONIC, &event, &timer);
    const int sent = raise(SIGCONT);
    const int stopped = raise(SIGSTOP);
    return (made != 0) + 2 * (sent != 0) + 4 * (stopped != 0);
  )",
                               "#include <signal.h>\n#include <time.h>"));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(call.returned == 7);
}

TEST_CASE("system calls that only an attack needs end it as a cheat") {
  const char* const attacks[] = {
      "return fork();",
      "return syscall(SYS_vfork);",
      "return syscall(SYS_clone, 17, 0, 0, 0, 0);",
      "return execl(\"/bin/true\", \"true\", nullptr);",
      "return system(\"true\");",
      "return socket(AF_INET, SOCK_STREAM, 0);",
      "return socket(AF_UNIX, SOCK_STREAM, 0);",
      "return kill(getppid(), 9);",
      "return kill(-1, 9);",
      "return syscall(SYS_tgkill, getppid(), getppid(), 9);",
      "return ptrace(PTRACE_ATTACH, getppid(), 0, 0);",
      "char b[8]; return syscall(SYS_process_vm_readv, getppid(), b, 1, b, 1, 0);",
      "return syscall(SYS_unshare, 0x10000000);",
      "return syscall(SYS_io_uring_setup, 1, nullptr);",
      "return syscall(SYS_bpf, 0, 0, 0);",
  };
  std::string body = "switch (args->mode) {\n";
  for (std::size_t i = 0; i < std::size(attacks); ++i)
    body += fmt::format("case {}: {{ {} }}\n", i, attacks[i]);
  const Solution solution(work(
      body + "}\nreturn 0;",
      "#include <signal.h>\n#include <stdlib.h>\n#include <sys/ptrace.h>\n#include <sys/socket.h>\n"
      "#include <sys/syscall.h>\n#include <unistd.h>"));
  for (std::size_t i = 0; i < std::size(attacks); ++i) {
    WorkCall call(4, static_cast<std::int64_t>(i));
    const Ending end = ending_of(*solution.session, call);
    CHECK_MESSAGE(end.verdict == Verdict::cheated, attacks[i]);
    CHECK(end.text == "made a forbidden system call in `work`");
  }
  WorkCall honest(4, 99);
  CHECK(ending_of(*solution.session, honest).verdict == Verdict::passed);
}

TEST_CASE("numbers of other system-call tables end it as a cheat") {
#if defined(__x86_64__)
  CHECK(ending_of("int64_t r = 20; asm volatile(\"int $0x80\" : \"+a\"(r)); return r;").verdict ==
        Verdict::cheated);
#endif
}

TEST_CASE("files are shut: nothing to write, nothing of ours to read, no shared memory") {
  // A careless parent: descriptors that survive exec, on every number that a launch could skip.
  std::vector<int> inherited;
  for (int i = 0; i < 16; ++i) inherited.push_back(dup(STDIN_FILENO));
  const ScratchFolder folder("secret");
  write_file(folder.path() / "secret", "42");
  const Solution solution(
      work(fmt::format(R"(
    int open_files = 0;
    for (const char* path : {{"{}", "/etc/passwd", "/proc/self/maps", "/proc/1/cmdline", "/tmp"}})
      open_files += open(path, O_RDONLY) >= 0;
    for (const char* path : {{"/tmp/note", "/dev/shm/note", "note", "/dev/null"}})
      open_files += open(path, O_RDWR | O_CREAT, 0600) >= 0;
    open_files += memfd_create("note", 0) >= 0;
    const int shared = MAP_SHARED | MAP_ANONYMOUS;
    open_files += mmap(0, 4096, PROT_READ | PROT_WRITE, shared, -1, 0) != MAP_FAILED;
    for (int fd = 3; fd < 256; ++fd) open_files += fcntl(fd, F_GETFD) >= 0;
    return open_files;
  )",
                       (folder.path() / "secret").string()),
           "#include <fcntl.h>\n#include <initializer_list>\n#include <sys/mman.h>"));
  WorkCall call(4);
  solution.session->run(call);
  for (const int fd : inherited) close(fd);
  CHECK(call.returned == 0);
}

TEST_CASE("a missing export is rejected with the names that there are") {
  Solution solution("extern \"C\" int64_t wrok(const Args*) { return 0; }\n");
  WorkCall call(4);
  const Ending end = ending_of(*solution.session, call);
  CHECK(end.verdict == Verdict::rejected);
  CHECK(end.text == "does not define `work`, did you mean 'wrok'?; it exports wrok");
}
