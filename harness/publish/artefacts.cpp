// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/artefacts.h"

#include <algorithm>
#include <array>
#include <set>

namespace gauntlet {
namespace {

using Words = std::vector<std::string_view>;

struct FolderRule {
  std::string_view rule;
  std::string_view name;  // the whole of it, or with * at an end a part
  Words witnesses;        // one of these files in it; none: the name says it all
};

struct FileRule {
  std::string_view rule;
  Words names;
};

const std::vector<FolderRule>& folder_rules() {
  static const Words kBuild{"CMakeCache.txt", "build.ninja", ".ninja_log", "CMakeFiles",
                            "meson-info"};
  static const std::vector<FolderRule> kRules{
      {"build-folder", "CMakeFiles", {}},
      {"build-folder", "build*", kBuild},
      {"build-folder", "out", kBuild},
      {"build-folder", "cmake-build-*", {}},
      {"build-folder", "*.dSYM", {}},
      {"cache-folder", "__pycache__", {}},
      {"cache-folder", ".cache", {}},
      {"cache-folder", ".ccache", {}},
      {"cache-folder", ".pytest_cache", {}},
      {"cache-folder", ".mypy_cache", {}},
      {"cache-folder", ".ruff_cache", {}},
      {"cache-folder", ".ipynb_checkpoints", {}},
      {"cache-folder", "node_modules", {}},
      {"cache-folder", "venv", {"pyvenv.cfg"}},
      {"cache-folder", ".venv", {"pyvenv.cfg"}},
      {"editor-folder", ".vscode", {}},
      {"editor-folder", ".idea", {}},
      {"editor-folder", ".vs", {}},
      {"credential-folder", ".ssh", {}},
      {"credential-folder", ".aws", {}},
      {"credential-folder", ".gnupg", {}},
      {"credential-folder", ".kube", {}},
  };
  return kRules;
}

const std::vector<FileRule>& file_rules() {
  static const std::vector<FileRule> kRules{
      {"build-file",
       {"*.o",
        "*.obj",
        "*.lo",
        "*.a",
        "*.lib",
        "*.so",
        "*.so.*",
        "*.dylib",
        "*.dll",
        "*.exe",
        "*.pdb",
        "*.ilk",
        "*.gch",
        "*.pch",
        "*.gcda",
        "*.gcno",
        "*.cubin",
        "*.fatbin",
        "*.pyc",
        "*.class",
        "a.out",
        "CMakeCache.txt",
        "cmake_install.cmake",
        "compile_commands.json",
        "build.ninja",
        ".ninja_log",
        ".ninja_deps",
        "*.nsys-rep",
        "*.ncu-rep",
        "*.qdrep",
        "perf.data",
        "perf.data.old",
        "gmon.out",
        "callgrind.out.*"}},
      {"core-dump", {"core", "core.*", "vgcore.*", "*.core", "*.stackdump"}},
      {"editor-file",
       {"*~", ".*.swp", ".*.swo", "*.swp", ".DS_Store", "Thumbs.db", "desktop.ini", "#*#", "*.orig",
        "*.rej"}},
      {"credential-file",
       {".env", ".netrc", ".git-credentials", ".pgpass", ".npmrc", ".pypirc", ".htpasswd", "id_rsa",
        "id_dsa", "id_ecdsa", "id_ed25519", "*.p12", "*.pfx", "*.keystore", "*.jks",
        ".docker_config.json"}},
      {"shell-history",
       {".bash_history", ".zsh_history", ".python_history", ".lesshst", ".viminfo", ".sh_history",
        ".node_repl_history", ".gdb_history", ".wget-hsts"}},
      {"half-written", {".gauntlet-sanitize-*"}},
  };
  return kRules;
}

/// One * stands for anything, at an end or in the middle.
bool fits(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  std::string_view tail = pattern.substr(star + 1);
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  const std::size_t second = tail.find('*');
  if (second == std::string_view::npos) return name.ends_with(tail);
  return name.find(tail.substr(0, second)) != std::string_view::npos;
}

/// core.1234 is a dump; core.h and core.cpp are somebody's sources.
bool is_dump(std::string_view name) {
  if (!name.starts_with("core.")) return true;
  if (name.size() == 5) return false;
  return std::all_of(name.begin() + 5, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string artefact_folder(const std::string& name,
                            const std::function<bool(const std::string&)>& holds) {
  for (const FolderRule& rule : folder_rules())
    if (fits(name, rule.name) &&
        (rule.witnesses.empty() ||
         std::any_of(rule.witnesses.begin(), rule.witnesses.end(),
                     [&](std::string_view witness) { return holds(std::string(witness)); })))
      return std::string(rule.rule);
  return "";
}

std::string artefact_file(const std::string& name) {
  for (const FileRule& rule : file_rules())
    for (const std::string_view pattern : rule.names)
      if (fits(name, pattern) && (rule.rule != "core-dump" || is_dump(name)))
        return std::string(rule.rule);
  return "";
}

std::string artefact_content(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::array<std::string_view, 7> kBuilt{
      "\x7f"
      "ELF"sv,
      "!<arch>\n"sv,
      "!<thin>\n"sv,
      "\xcf\xfa\xed\xfe"sv,
      "\xce\xfa\xed\xfe"sv,
      "\xca\xfe\xba\xbe"sv,
      "gpch"sv};
  const bool built = std::any_of(kBuilt.begin(), kBuilt.end(),
                                 [&](std::string_view magic) { return bytes.starts_with(magic); });
  // "MZ" alone may begin a text: its header says where another one begins.
  const bool windows = bytes.starts_with("MZ"sv) && bytes.size() > 0x40 &&
                       bytes.substr(0, 0x1000).find("PE\0\0"sv) != std::string_view::npos;
  return built || windows ? "built-program" : "";
}

std::string not_ours_to_remove(const FolderEntry& entry) {
  if (entry.name() == ".git" || entry.name() == ".hg" || entry.name() == ".svn" ||
      entry.name() == ".jj")
    return "its history keeps names, and all that is removed here; publish the folder without it";
  if (entry.kind == FolderEntry::Kind::other)
    return "it is a pipe, a socket or a device; remove it";
  if (entry.kind != FolderEntry::Kind::link) return "";
  std::string_view target = entry.target;
  // How deep the link lies, and how far up it points.
  auto depth = std::count(entry.path.begin(), entry.path.end(), '/');
  bool out = target.empty() || target.front() == '/';
  while (!out && !target.empty()) {
    const std::size_t end = std::min(target.find('/'), target.size());
    const std::string_view part = target.substr(0, end);
    if (part == "..") --depth;
    if (!part.empty() && part != "." && part != "..") ++depth;
    out = depth < 0;
    target.remove_prefix(std::min(end + 1, target.size()));
  }
  return out ? "it is a link that leads out of the folder; put the file itself there, or remove it"
             : "";
}

std::vector<std::string> artefact_rules() {
  std::set<std::string> rules{"built-program"};
  for (const FolderRule& rule : folder_rules()) rules.emplace(rule.rule);
  for (const FileRule& rule : file_rules()) rules.emplace(rule.rule);
  return {rules.begin(), rules.end()};
}

}  // namespace gauntlet
