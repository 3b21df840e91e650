// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gauntlet {

/// From now on Ctrl-C and SIGTERM end the program at once with 130 and 143. With `json`, the
/// document that says so goes to stdout. Processes that grade die with their parent.
void end_on_interrupt(bool json);

/// What such an end says beside "interrupted": to a person what becomes of what was done, and on
/// stdout, in place of that document, what there is of the answer.
struct LastWords {
  std::string remark;
  std::string answer;  // empty: there is none
};

/// Replaces those of before. To be called by the only thread that there is.
void leave_last_words(LastWords words);

}  // namespace gauntlet
