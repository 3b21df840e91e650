// SPDX-License-Identifier: Apache-2.0
// What a solution can make others say: the compiler about its source, the worker about why it
// cannot be loaded. Told in our sentences, which hold no control bytes and no end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "harness/build/compiler_messages.h"
#include "harness/build/silencing.h"
#include "harness/core/text.h"
#include "harness/worker/postmortem.h"

namespace {

constexpr std::size_t kLongest = 80 << 10;

void require_safe(std::string_view told) {
  if (told.size() > kLongest || gauntlet::printable(told, kLongest) != told) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view words(reinterpret_cast<const char*>(data), size);
  const gauntlet::CompilerOutput output = gauntlet::read_output(words);
  require_safe(gauntlet::tidy_messages(output));
  for (const gauntlet::Diagnostic& warning : gauntlet::own_warnings(output))
    if (warning.is_error()) std::abort();
  std::vector<gauntlet::Diagnostic> found;
  const std::vector<gauntlet::SolutionSource::File> files{{"solution.cpp", std::string(words)}};
  if (gauntlet::with_misspelt_lines(files, found)[0].content.size() != size) std::abort();
  gauntlet::add_silencers(output, files, found);
  gauntlet::add_taken_for_the_systems(output.included, found);
  require_safe(gauntlet::limit_in(words).value_or(""));

  gauntlet::wire::Control control{};
  std::memset(control.text, 'x', sizeof control.text);  // nothing ends the text but its size
  std::memcpy(control.text, words.data(), std::min(words.size(), sizeof control.text));
  for (const auto answer : {gauntlet::wire::Reply::not_loaded, gauntlet::wire::Reply::no_symbol}) {
    control.reply = answer;
    require_safe(gauntlet::refusal_of(control).what());
  }
  return 0;
}
