// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace gauntlet::device_process {

enum class Role : std::uint8_t {
  input,     // the grader's, which nobody may write
  output,    // the grader's
  scratch,   // the worker's own
  variable,  // of the program
};
const char* name_of(Role role);

/// A piece of device memory that is there now.
struct Buffer {
  std::string name;
  Role role = Role::scratch;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t copied_in = 0;   // bytes from the host since the call began
  std::uint64_t copied_out = 0;  // bytes to the host
};

/// All of them, by address.
class Buffers {
 public:
  /// What is counted for a call is zero, and the peak is what there is.
  void begin_call();

  void add(Buffer buffer);
  void remove(std::uint64_t address);

  /// The one that holds the whole range; null where there is none.
  Buffer* holding(std::uint64_t address, std::uint64_t bytes);
  /// The one that begins there.
  Buffer* at(std::uint64_t address);

  std::map<std::uint64_t, Buffer>& all() { return all_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t scratch_bytes() const { return scratch_bytes_; }
  std::uint64_t scratch_peak() const { return scratch_peak_; }  // since begin_call()

 private:
  std::map<std::uint64_t, Buffer> all_;
  std::uint64_t bytes_ = 0;
  std::uint64_t scratch_bytes_ = 0;
  std::uint64_t scratch_peak_ = 0;
};

}  // namespace gauntlet::device_process
