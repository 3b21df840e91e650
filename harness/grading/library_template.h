// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// A shared library that was linked once and can be made to lead to other functions: what it
/// exports, and what runs when it is loaded. To link it anew for each would read and write
/// megabytes that are the same in all of them.
class LibraryTemplate {
 public:
  /// Where the functions that one solution defines lie in it.
  struct Entry {
    std::vector<std::uint64_t> exports;       // in the order of the names
    std::vector<std::uint64_t> initialisers;  // one for each slot
  };

  /// `file`: an ELF library of this machine. Throws Broken for what is none.
  explicit LibraryTemplate(std::string file) : file_(std::move(file)) {}

  /// The numbers in a section that is not loaded. They are wiped out: no library holds them.
  std::vector<std::uint64_t> take_table(std::string_view section);

  /// The library in which these names, and the slots of initialisers from `slots` on, lead there.
  std::string leading_to(const Entry& entry, const std::vector<std::string>& names,
                         std::uint64_t slots) const;

 private:
  std::string file_;
};

}  // namespace gauntlet
