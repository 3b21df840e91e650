// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gauntlet::test {

/// What a solution needs to find the page by which the grader and the worker speak: among the
/// pointers of all libraries, the one to a page whose numbers look like orders. `dl_iterate_phdr`
/// with `search` fills in a `Found`; page[0] is the order's number, page[16] the bell and page[17]
/// the last order carried out (wire::Control).
inline constexpr const char* kFindControlPage = R"(
    #include <cerrno>
    #include <link.h>
    #include <linux/futex.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    struct Found { volatile uint32_t* page = nullptr; };
    static int search(dl_phdr_info* info, size_t, void* data) {
      for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_W)) continue;
        auto begin = (info->dlpi_addr + part.p_vaddr + 7) & ~7ul;
        for (auto at = begin; at + 8 <= info->dlpi_addr + part.p_vaddr + part.p_memsz; at += 8) {
          const auto value = *(uintptr_t*)at;
          if (value == 0 || value % 4096 != 0) continue;
          if (access((const char*)value, F_OK) != 0 && errno == EFAULT) continue;
          auto* page = (volatile uint32_t*)value;
          if (page[0] > 0 && page[0] < 100 && page[17] + 1 == page[0]) ((Found*)data)->page = page;
        }
      }
      return 1;
    }
)";

}  // namespace gauntlet::test
