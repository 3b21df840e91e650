// SPDX-License-Identifier: Apache-2.0
#include "harness/build/header_macros.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gauntlet {
namespace {

constexpr const char* kExpanded = "expanded ";
constexpr const char* kLast = "end_of_headers";

std::string plain_name(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

/// From which file on the macro may be defined when files are read. All are read behind the start
/// of the one that is compiled, and none behind its end.
std::size_t defined_from(const OwnMacro& macro, const std::string& compiled,
                         const std::vector<Included>& read) {
  std::size_t earliest = read.size();
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (plain_name(read[i].file) != macro.file) continue;
    std::size_t behind = i + 1;
    if (!macro.include_follows)
      while (behind < read.size() && read[behind].depth > read[i].depth) ++behind;
    earliest = std::min(earliest, behind);
  }
  return macro.file == compiled && macro.include_follows ? 0 : earliest;
}

/// An error of ours when it is expanded.
std::string trap(const std::string& name, bool takes_arguments) {
  return fmt::format("#undef {0}\n#define {0}{1} _Pragma(\"GCC error \\\"{2}{0}\\\"\")\n", name,
                     takes_arguments ? "(...)" : "", kExpanded);
}

std::string text_of_definitions(const std::vector<OwnMacro>& macros) {
  std::map<std::string, bool> takes_arguments;
  for (const OwnMacro& macro : macros)
    if (!macro.is_setting() && !is_reserved(macro.name))
      takes_arguments.try_emplace(macro.name, true).first->second &= macro.takes_arguments;
  std::string text = trap(kLast, false);
  for (const auto& [name, takes] : takes_arguments) text += trap(name, takes);
  return text;
}

/// The traps are set before each header anew, since headers undefine some names; the headers that
/// one includes itself were read before it here if they were then. The last trap tells that traps
/// work, whatever the names of the others, and that all was read.
std::string text_of_search(const std::vector<OwnMacro>& macros, const std::vector<Included>& read,
                           const std::string& definitions, bool with_settings) {
  std::string text;
  for (const OwnMacro& macro : macros)
    if (with_settings && macro.is_setting())
      text += fmt::format("#undef {0}\n#define {0}{1}\n", macro.name, macro.setting);
  for (const OwnMacro& macro : macros)
    if (!macro.is_setting() && is_reserved(macro.name))
      text += fmt::format("#pragma GCC poison {}\n", macro.name);
  std::set<std::string> done;
  for (const Included& one : read)
    if (is_system_file(one.file) && done.insert(one.file).second)
      text += fmt::format("#include \"{}\"\n#include \"{}\"\n", definitions, one.file);
  return text + kLast + "\n";
}

std::string used_name(const Diagnostic& said) {
  if (!said.is_error()) return "";
  if (said.message.starts_with(kExpanded))
    return said.message.substr(std::string_view(kExpanded).size());
  return poisoned_word(said.message);
}

/// A header asks by #if for the value of what is a trap here: it may have gone another way.
bool is_asked_trap(const Diagnostic& said) {
  return said.message.starts_with("missing binary operator before token \"(\"");
}

bool reads(const std::vector<Included>& read, std::size_t from, const std::string& file) {
  return std::any_of(read.begin() + static_cast<std::ptrdiff_t>(from), read.end(),
                     [&](const Included& one) { return one.file == file; });
}

Diagnostic warning_of(const OwnMacro& macro, const Diagnostic& use) {
  return {"warning",
          macro.file,
          macro.line,
          1,
          fmt::format("macro '{}', whose name {}:{} uses and which is defined or undefined before "
                      "that header is read, counts as a warning: include the header first, or "
                      "name the macro otherwise",
                      macro.name, use.file, use.line),
          ""};
}

}  // namespace

CompilerOutput HeaderMacros::search(const std::string& text,
                                    std::vector<std::string> compiler_and_flags) {
  const std::string headers = folder_.new_name("headers.cpp");
  folder_.put({{headers, text}}, contract_);
  std::vector<std::string>& argv = compiler_and_flags;
  argv.insert(argv.end(), {"-fmax-errors=0", "-fdiagnostics-format=json", "-E", headers, "-o",
                           folder_.new_name("headers.i")});
  steps_.carry_out(argv);
  CompilerOutput said = read_output(steps_.printed());
  const bool to_the_end =
      std::any_of(said.diagnostics.begin(), said.diagnostics.end(),
                  [](const Diagnostic& one) { return used_name(one) == kLast; });
  said.garbled |= std::any_of(said.diagnostics.begin(), said.diagnostics.end(), is_asked_trap);
  said.garbled |= !to_the_end || steps_.cut() || !steps_.stopped().empty();
  steps_.forget_stop();  // no matter for the build, which is done
  return said;
}

void HeaderMacros::look(const std::string& file, const std::vector<Included>& read,
                        const std::vector<std::string>& compiler_and_flags) {
  std::vector<OwnMacro> macros;
  for (const OwnMacro& macro : all_)
    if (defined_from(macro, file, read) < read.size()) macros.push_back(macro);
  const auto is_setting = [](const OwnMacro& macro) { return macro.is_setting(); };
  if (std::all_of(macros.begin(), macros.end(), is_setting)) return;
  const std::string definitions = folder_.new_name("macros.h");
  folder_.put({{definitions, text_of_definitions(macros)}}, contract_);
  for (const bool with_settings : {false, true}) {
    if (with_settings && std::none_of(macros.begin(), macros.end(), is_setting)) break;
    const CompilerOutput said =
        search(text_of_search(macros, read, definitions, with_settings), compiler_and_flags);
    for (const Diagnostic& one : said.diagnostics) {
      const auto used = std::find_if(macros.begin(), macros.end(), [&](const OwnMacro& macro) {
        return macro.name == used_name(one) && !macro.is_setting() &&
               reads(read, defined_from(macro, file, read), one.file);
      });
      if (used == macros.end()) continue;
      found_.push_back(warning_of(*used, one));
      macros.erase(used);  // once is enough
    }
    if (said.garbled)
      found_.push_back(
          {"warning", file, 0, 0, "the system's headers cannot be searched for its macros", ""});
  }
}

}  // namespace gauntlet
