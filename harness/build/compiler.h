#pragma once

#include <string>
#include <vector>

namespace gauntlet {

/// The C++ compiler of this machine, and how it is always called.
struct Compiler {
  std::string path;     // "/usr/bin/g++"
  std::string version;  // "g++ (Debian 12.2.0-14+deb12u1) 12.2.0"
  std::string machine;  // what -march=native means here: the CPU's name and features
};

/// Found and asked once a process. Throws Broken when there is no g++.
const Compiler& compiler();

/// The fixed flags, with which every solution of every challenge is compiled.
const std::vector<std::string>& compile_flags();

/// The same for a solution's own tests, which leave the contract's functions undefined.
const std::vector<std::string>& test_flags();

/// The same code as with compile_flags(), to be left as assembly text.
const std::vector<std::string>& assembly_flags();

}  // namespace gauntlet
