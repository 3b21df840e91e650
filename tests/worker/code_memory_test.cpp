// SPDX-License-Identifier: Apache-2.0
// Memory hidden behind code: pages of libraries count as no scratch, so none may make room for any.

#include <fmt/format.h>

#include "counted_memory.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

const char* const kCode = R"(
    #include <cstdint>
    #include <dlfcn.h>
    #include <errno.h>
    #include <exception>
    #include <fcntl.h>
    #include <initializer_list>
    #include <link.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/stat.h>
    #include <unistd.h>
    static const size_t kScratch = 15 << 20;
    static void look_at(const volatile char* at, size_t bytes) {
      for (size_t i = 0; i < bytes; i += 4096) (void)at[i];
    }
    // Too short for somebody who looks every few milliseconds.
    static void use_scratch() {
      const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
      munmap(mmap(0, kScratch, PROT_READ | PROT_WRITE, flags, -1, 0), kScratch);
    }
    struct Part { char* at; size_t bytes; };
    // Calls a function with every part of the system's libraries that is not writable.
    template <class Use> static void for_code(Use use) {
      auto visit = [](dl_phdr_info* info, size_t, void* data) {
        if (info->dlpi_addr >> 44 != 7) return 0;  // not the worker, which lies at 0x5
        if (strstr(info->dlpi_name, "/lib") == nullptr) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_W)) continue;
          const uintptr_t at = (info->dlpi_addr + part.p_vaddr) & ~4095ul;
          (*(Use*)data)(Part{(char*)at, (part.p_memsz + 4095) & ~4095ul});
        }
        return 0;
      };
      dl_iterate_phdr(+visit, &use);
    }
    static int touch_code() {
      for_code([](Part part) { look_at(part.at, part.bytes); });
      return 0;
    }
    static Part largest_code() {
      Part most = {};
      for_code([&](Part part) { if (part.bytes > most.bytes) most = part; });
      if (most.bytes < 1 << 20) abort();
      return most;
    }
)";

std::int64_t peak_in_second_call(const std::string& body, const std::string& before = "") {
  const Solution solution(work("if (args->mode == 0) return touch_code();" + body,
                               std::string(kHeaders) + kCode + before));
  WorkCall first(4, 0), second(4, 1);
  solution.session->run(first);
  return peak_of(*solution.session, second);
}

}  // namespace

TEST_CASE("code of the system's libraries cannot be dropped at the peak") {
  for (const std::string drop :
       {"madvise(part.at, part.bytes, MADV_DONTNEED);", "madvise(part.at, part.bytes, MADV_FREE);",
        "madvise(part.at, part.bytes, MADV_COLD);", "madvise(part.at, part.bytes, MADV_PAGEOUT);",
        "madvise(part.at, part.bytes, MADV_DONTNEED_LOCKED);",
        // From far below, over everything that lies between.
        "madvise(below, (size_t)(part.at + part.bytes - below), MADV_DONTNEED);"}) {
    const std::int64_t peak = peak_in_second_call(fmt::format(R"(
      char* below = (char*)mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      for_code([&](Part part) {{ {} }});
      use_scratch();
      return below == MAP_FAILED;
    )",
                                                              drop));
    CHECK_MESSAGE(peak >= 15 * kMib - kExact, drop);
  }
}

TEST_CASE("code of the system's libraries cannot be unmapped, moved or replaced") {
  // Of the largest part, its last pages, which hold what nobody needs at once.
  const Solution solution(work(R"(
    const Part code = largest_code();
    char* page = code.at + code.bytes - 4096;
    const int own = MAP_PRIVATE | MAP_ANONYMOUS;
    char* mine = (char*)mmap(0, 4096, PROT_READ, own, -1, 0);
    errno = 0;
    if (munmap(page, 4096) == 0 || errno != EPERM) return 1;
    if (mmap(page, 4096, PROT_READ, own | MAP_FIXED, -1, 0) == page || errno != EPERM) return 2;
    if (mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, mine) == mine || errno != EPERM)
      return 3;
    if (mremap(mine, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page) == page || errno != EPERM)
      return 4;
    const size_t far = (size_t)(page + 4096 - mine);
    if (munmap(mine, far) == 0 || errno != EPERM) return 5;
    if (mmap(mine, far, PROT_READ, own | MAP_FIXED, -1, 0) == mine || errno != EPERM) return 6;
    return 0;
  )",
                               std::string(kHeaders) + kCode));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(call.returned == 0);
}

TEST_CASE("code of the system's libraries cannot be written over") {
  // It would be private memory that no longer counts as files, made up for by another view of one.
  const Solution solution(work(R"(
    int opened = 0;
    const char* own = (const char*)&touch_code;
    const uintptr_t y = (uintptr_t)args->y & ~4095ul;
    for_code([&](Part code) {
      const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
      opened += mprotect(code.at, 4096, all) == 0 || errno != EPERM;
      opened += mprotect(code.at, 4096, all | PROT_GROWSDOWN) == 0;
      opened += mprotect((void*)y, (uintptr_t)code.at + 4096 - y, all) == 0 || errno != EPERM;
    });
    char* page = (char*)((uintptr_t)own & ~4095ul);
    if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) opened += 1000;
    return opened;
  )",
                               std::string(kHeaders) + kCode));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(call.returned == 0);
}

TEST_CASE("files that a solution maps, and its own library, make no room for scratch") {
  const std::int64_t peak = peak_in_second_call(R"(
    madvise(views.library, views.bytes, MADV_DONTNEED);
    madvise((char*)(((uintptr_t)table + 4095) & ~4095ul), sizeof table - 4096, MADV_DONTNEED);
    use_scratch();
    look_at(table, sizeof table);
    look_at(views.library, views.bytes);
    return 0;
  )",
                                                R"(
    static const volatile char table[1 << 20] = {1};
    struct Views {
      char* library;
      size_t bytes;
      Views() {
        look_at(table, sizeof table);
        Dl_info found;
        struct stat facts;
        dladdr((void*)&std::terminate, &found);
        const int fd = open(found.dli_fname, O_RDONLY);
        if (fd < 0 || fstat(fd, &facts) != 0) abort();
        bytes = (size_t)facts.st_size;
        library = (char*)mmap(0, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        look_at(library, bytes);
      }
    };
    static Views views;
  )");
  CHECK(peak >= 15 * kMib - kExact);
}

TEST_CASE("what the system's libraries need for their work counts as nothing") {
  CHECK(peak_in_second_call("return touch_code();") < kExact);
}
