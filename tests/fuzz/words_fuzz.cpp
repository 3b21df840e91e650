// What a solution can make others say: the compiler about its source, the worker about why it
// cannot be loaded. Told in our sentences, which hold no control bytes and no end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "harness/build/compiler_messages.h"
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
  require_safe(gauntlet::tidy_messages(words, "/tmp/scratch"));
  if (gauntlet::count_warnings(words) < 0) std::abort();
  require_safe(gauntlet::limit_in(words).value_or(""));

  gauntlet::wire::Control control{};
  std::memset(control.text, 'x', sizeof control.text);  // nothing ends the text but its size
  std::memcpy(control.text, words.data(), std::min(words.size(), sizeof control.text));
  for (const auto answer :
       {gauntlet::wire::Answer::not_loaded, gauntlet::wire::Answer::no_symbol}) {
    control.answer = answer;
    require_safe(gauntlet::refusal_of(control).what());
  }
  return 0;
}
