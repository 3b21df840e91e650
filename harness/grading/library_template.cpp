// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/library_template.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

[[noreturn]] void unfit(const std::string& why) {
  throw Broken(OwnFault::bug, "making libraries for the self-test: the linked library " + why);
}

/// A record of the file, copied, because nothing in it need be aligned.
template <class T>
T at(const std::string& file, std::uint64_t place) {
  T record;
  if (place > file.size() || file.size() - place < sizeof record) unfit("is cut off");
  std::memcpy(&record, file.data() + place, sizeof record);
  return record;
}

template <class T>
void put(std::string& file, std::uint64_t place, const T& record) {
  (void)at<T>(file, place);
  std::memcpy(file.data() + place, &record, sizeof record);
}

using ElfSection = ElfW(Shdr);

std::vector<ElfSection> sections(const std::string& file) {
  const auto head = at<ElfW(Ehdr)>(file, 0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) unfit("is no ELF file");
  std::vector<ElfSection> all;
  for (int i = 0; i < head.e_shnum; ++i)
    all.push_back(at<ElfSection>(file, head.e_shoff + std::uint64_t(i) * sizeof(ElfSection)));
  return all;
}

std::string name_at(const std::string& file, std::uint64_t place) {
  (void)at<char>(file, place);
  return file.c_str() + place;
}

ElfSection section_named(const std::string& file, std::string_view name) {
  const std::vector<ElfSection> all = sections(file);
  const std::uint64_t names = all.at(at<ElfW(Ehdr)>(file, 0).e_shstrndx).sh_offset;
  for (const ElfSection& one : all)
    if (name_at(file, names + one.sh_name) == name) return one;
  unfit(fmt::format("has no section {}", name));
}

std::uint64_t place_of(const std::string& file, std::uint64_t address) {
  const auto head = at<ElfW(Ehdr)>(file, 0);
  for (int i = 0; i < head.e_phnum; ++i) {
    const auto part = at<ElfW(Phdr)>(file, head.e_phoff + std::uint64_t(i) * sizeof(ElfW(Phdr)));
    if (part.p_type == PT_LOAD && address - part.p_vaddr < part.p_filesz)
      return part.p_offset + address - part.p_vaddr;
  }
  unfit(fmt::format("holds nothing at {:#x}", address));
}

void lead(std::string& file, const std::string& name, std::uint64_t target) {
  const ElfSection symbols = section_named(file, ".dynsym");
  const std::uint64_t names = section_named(file, ".dynstr").sh_offset;
  for (std::uint64_t i = 0; i < symbols.sh_size / sizeof(ElfW(Sym)); ++i) {
    const std::uint64_t place = symbols.sh_offset + i * sizeof(ElfW(Sym));
    auto symbol = at<ElfW(Sym)>(file, place);
    if (name_at(file, names + symbol.st_name) != name) continue;
    symbol.st_value = target;
    return put(file, place, symbol);
  }
  unfit("does not export " + name);
}

/// The loader writes there what the relocation says, or adds to what lies there.
void fill(std::string& file, std::uint64_t slot, std::uint64_t target) {
  put(file, place_of(file, slot), target);
  for (const ElfSection& one : sections(file)) {
    if (one.sh_type != SHT_RELA || (one.sh_flags & SHF_ALLOC) == 0) continue;
    for (std::uint64_t i = 0; i < one.sh_size / sizeof(ElfW(Rela)); ++i) {
      const std::uint64_t place = one.sh_offset + i * sizeof(ElfW(Rela));
      auto relocation = at<ElfW(Rela)>(file, place);
      if (relocation.r_offset != slot) continue;
      relocation.r_addend = static_cast<ElfW(Sxword)>(target);
      put(file, place, relocation);
    }
  }
}

}  // namespace

std::vector<std::uint64_t> LibraryTemplate::take_table(std::string_view section) {
  const ElfSection table = section_named(file_, section);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < table.sh_size / sizeof(std::uint64_t); ++i) {
    const std::uint64_t place = table.sh_offset + i * sizeof(std::uint64_t);
    numbers.push_back(at<std::uint64_t>(file_, place));
    put(file_, place, std::uint64_t{0});
  }
  return numbers;
}

std::string LibraryTemplate::leading_to(const Entry& entry, const std::vector<std::string>& names,
                                        std::uint64_t slots) const {
  std::string file = file_;
  for (std::size_t i = 0; i < names.size(); ++i) lead(file, names[i], entry.exports.at(i));
  for (std::size_t i = 0; i < entry.initialisers.size(); ++i)
    fill(file, slots + i * sizeof(std::uint64_t), entry.initialisers[i]);
  return file;
}

}  // namespace gauntlet
