// SPDX-License-Identifier: Apache-2.0
// What a large board costs.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <doctest/doctest.h>
#include <map>
#include <new>
#include <string>

#include "tests/report/random_table.h"

using namespace gauntlet;

namespace {

/// Processor seconds of the fastest of three: other programs slow one down.
template <class Work>
double seconds_of(const Work& work) {
  double least = 1e9;
  for (int lap = 0; lap < 3; ++lap) {
    const std::clock_t start = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

std::atomic<std::size_t> allocated = 0;  // bytes, whatever was freed again

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)
void* operator new(std::size_t bytes) {
  allocated += bytes;
  if (void* const made = std::malloc(bytes == 0 ? 1 : bytes)) return made;
  throw std::bad_alloc();
}
void operator delete(void* made) noexcept {
  std::free(made);
}
void operator delete(void* made, std::size_t) noexcept {
  std::free(made);
}
#endif

// Seconds are the machine's, whose memory is fast or slow beside its processor. What is allocated
// on the way to the pages says the same everywhere: 27 bytes for each of theirs. Rendered twice it
// would be 54.
TEST_CASE("a report over 60 submissions and 8 challenges is rendered once") {
  const ReportInput input = random_table(1, 60, 8, 45);
  const std::size_t before = allocated;
  const std::map<std::string, std::string> pages = render_report(input);
  const std::size_t taken = allocated - before;
  std::size_t bytes = 0;
  for (const auto& page : pages) bytes += page.second.size();
  MESSAGE(pages.size(), " files, ", bytes / 1048576, " MiB, for which ", taken / 1048576,
          " MiB were allocated in all");
  CHECK(pages.size() > 60 + 8 + 60 * 59 / 2);
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(taken < 40 * bytes);
#endif
}

TEST_CASE("of more than 2,000 pairs none is listed, and the pages say how many there are") {
  const auto pages = render_report(random_table(1, 64, 3, 5));  // 64 * 63 / 2 = 2016
  const std::string& pairs = pages.at("pairs/README.md");
  CHECK(pairs.find("too many pairs to list, 2016") != std::string::npos);
  CHECK(pages.at("README.md").find("there are 2016 pairs") != std::string::npos);
  CHECK(std::ranges::count_if(
            pages, [](const auto& page) { return page.first.starts_with("pairs/"); }) == 1);
  const auto fewer = render_report(random_table(1, 63, 3, 5));  // 1953
  CHECK(fewer.at("pairs/README.md").find("too many") == std::string::npos);
}

// Without its pairs a report is work for each cell: twice as many took 1.7 to 2.5 times as long
// where that was measured, beside other programs. What compared each with each would take four.
TEST_CASE("a report over 420 cells takes about twice as long as one over 210") {
  const ReportInput few = random_table(1, 70, 3, 30), many = random_table(1, 140, 3, 30);
  const double least = seconds_of([&] { render_report(few); });
  const double most = seconds_of([&] { render_report(many); });
  MESSAGE(least, " and ", most, " s of CPU time, ", most / least, " times as long");
  CHECK(most < 3.2 * least);
}
