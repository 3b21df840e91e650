// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/simt/ptx/module.h"

namespace gauntlet::simt::ptx {

/// The registers that a function declares, by nested braces. A range (%r<100000>) costs nothing
/// until one of it is used.
class Scopes {
 public:
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  std::size_t depth() const { return scopes_.size(); }

  void declare(std::string_view name, Type type) { scopes_.back().singles[name] = {type, {}}; }
  void declare_range(std::string_view prefix, std::uint64_t count, Type type);

  /// Number of the register in `registers`, which grows by one at its first use; nothing where no
  /// open scope declares it.
  std::optional<std::uint32_t> find(std::string_view name, std::vector<Register>& registers);

 private:
  struct Single {
    Type type;
    std::optional<std::uint32_t> number;
  };
  struct Range {
    Type type;
    std::uint64_t count = 0;
    std::map<std::uint64_t, std::uint32_t> numbers;
  };
  struct Scope {
    std::map<std::string_view, Single> singles;
    std::map<std::string_view, Range> ranges;
  };

  std::vector<Scope> scopes_;
};

}  // namespace gauntlet::simt::ptx
