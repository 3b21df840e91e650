// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "harness/sandbox/fd.h"

namespace gauntlet {

/// What a child prints: its beginning is kept, the rest is counted and dropped, so that the child
/// is neither blocked for long nor able to fill our memory.
class OutputPipe {
 public:
  /// Throws Broken when there is no pipe to be had.
  explicit OutputPipe(std::size_t keep);

  int reading_end() const { return out_.get(); }
  int writing_end() const { return in_.get(); }  // for the child; close it once the child has it
  void close_writing_end() { in_.reset(); }

  /// Takes what is there now, without waiting and at most a few megabytes at once. False at the end
  /// of the stream.
  bool drain();

  const std::string& kept() const { return kept_; }
  std::size_t printed() const { return printed_; }  // bytes seen so far

 private:
  Fd out_;
  Fd in_;
  std::size_t keep_;
  std::string kept_;
  std::size_t printed_ = 0;
};

}  // namespace gauntlet
