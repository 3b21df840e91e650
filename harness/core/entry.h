#pragma once

#include <string>
#include <string_view>

namespace gauntlet {

/// What a cell of the matrix is about: a challenge at its standard size, "ID", or at another one,
/// "ID.SIZE". Sizes never meet in one ranking. No challenge's name holds a dot.
struct Entry {
  std::string challenge;
  std::string size;  // empty: the standard one

  static Entry named(std::string_view name) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return {std::string(name), ""};
    return {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
  }
  bool is_standard() const { return size.empty(); }
};

}  // namespace gauntlet
