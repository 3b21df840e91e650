// SPDX-License-Identifier: Apache-2.0
// What a large board costs.
#include <algorithm>
#include <ctime>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <map>
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

}  // namespace

// Seconds are the machine's: 2 or 3 of them here and there. What is written is numbers and words,
// so that it should take a few times as long as to write as many bytes of numbers alone: 1.5 to 2.7
// times where that was measured, on a busy machine; rendered twice it was 3.8 times.
TEST_CASE("a report over 60 submissions and 8 challenges takes little longer than to write it") {
  const ReportInput input = random_table(1, 60, 8, 45);
  std::map<std::string, std::string> pages;
  const double seconds = seconds_of([&] { pages = render_report(input); });
  std::size_t bytes = 0;
  for (const auto& page : pages) bytes += page.second.size();
  const double of_numbers = seconds_of([&] {
    std::string text;
    for (int n = 0; text.size() < bytes; ++n) text += fmt::format("{:.3f} ", 0.001 * n);
  });
  MESSAGE(pages.size(), " files, ", bytes / 1048576, " MiB in ", seconds, " s of CPU time, ",
          seconds / of_numbers, " times as long as numbers take");
  CHECK(pages.size() > 60 + 8 + 60 * 59 / 2);
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(seconds < 3.5 * of_numbers);
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
