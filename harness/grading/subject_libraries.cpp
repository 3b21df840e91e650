// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/subject_libraries.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <numeric>

#include "harness/build/toolchain.h"
#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/core/parallel.h"
#include "harness/core/rng.h"
#include "harness/grading/disguise.h"
#include "harness/grading/library_template.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTable = ".gauntlet.subjects";

void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work) {
  parallel_for(count, this_machine().cores, work);
}

/// The assembler and the linker, which work on texts of ours: what they refuse is our fault.
void run_tool(const std::vector<std::string>& arguments, const fs::path& folder) {
  Command command{{compiler().path}, folder};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  // Some seconds on an idle machine. No submission is at work here that could draw it out.
  const Limits limits{.wall_seconds = 600, .cpu_seconds = 600};
  const CommandResult result = run_command(command, limits);
  const auto* end = std::get_if<Exited>(&result.outcome);
  if (end == nullptr || end->code != 0)
    throw Broken(OwnFault::own_solution,
                 fmt::format("making libraries for the self-test: {}\n{}", describe(result.outcome),
                             result.output.substr(0, 4000)));
}

std::string prefix_of(std::size_t subject) {
  return fmt::format("SUBJECT{}_", subject);
}

/// Some of the subjects as one object file.
std::string object_of(const std::vector<Disguise>& all, const std::vector<std::size_t>& some) {
  const ScratchFolder folder("assemble");
  std::vector<std::string> arguments{"-r", "-nostdlib", "-o", "some.o"};
  for (const std::size_t subject : some) {
    // A generator of its own: who reads the junk in the code and works out where it comes from
    // learns nothing of the order.
    Rng rng(entropy());
    for (const std::string& text : all[subject].draw(rng)) {
      arguments.push_back(fmt::format("{}.s", arguments.size()));
      write_file(folder.path() / arguments.back(), text);
    }
  }
  run_tool(arguments, folder.path());
  return read_file(folder.path() / "some.o");
}

/// Objects in which all subjects lie in an order of chance, one object for each core.
std::vector<std::string> objects_of(const std::vector<Disguise>& all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(entropy()).shuffle(order);
  const auto cores = static_cast<std::size_t>(this_machine().cores);
  std::vector<std::vector<std::size_t>> shares(std::min(cores, all.size()));
  for (std::size_t i = 0; i < order.size(); ++i) shares[i % shares.size()].push_back(order[i]);
  std::vector<std::string> objects(shares.size());
  on_all_cores(shares.size(), [&](std::size_t i) { objects[i] = object_of(all, shares[i]); });
  return objects;
}

#if defined(__x86_64__)
constexpr const char* kJump = "jmp";
#else
constexpr const char* kJump = "b";
#endif

std::string function_of(const std::string& name, const std::string& instruction) {
  return fmt::format("{}:\n\t.cfi_startproc\n\t{}\n\t.cfi_endproc\n", name, instruction);
}

std::string stub_of(std::size_t subject, std::size_t slot) {
  return fmt::format("STUB{}_{}", subject, slot);
}

/// What runs when a library is loaded would tell by the number of its functions which subject it
/// is. So all have as many slots as the subject that has most; and each slot of each leads to a
/// function of its own that leads on, to an initialiser or to a function that does nothing.
std::string stubs_text(const std::vector<Disguise>& all, std::size_t slots) {
  std::vector<std::string> functions;
  for (std::size_t subject = 0; subject < all.size(); ++subject)
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const std::string stub = stub_of(subject, slot);
      const std::vector<std::string>& initialisers = all[subject].initialisers();
      const std::string nothing = "NOTHING_" + stub;
      const std::string& next = slot < initialisers.size() ? initialisers[slot] : nothing;
      functions.push_back(function_of(stub, fmt::format("{}\t{}", kJump, next)));
      functions.push_back(function_of(nothing, "ret"));
    }
  Rng rng(entropy());
  rng.shuffle(functions);
  return Disguise(fmt::format("\t.text\n{}", fmt::join(functions, "")), "").draw(rng).at(0);
}

/// What is linked besides the subjects: slots for initialisers, what they lead to, and a table of
/// where everything lies.
std::string entry_text(const std::vector<Disguise>& all, const std::vector<std::string>& exports,
                       std::size_t slots) {
  std::string text = "\t.section .note.GNU-stack,\"\",@progbits\n" + stubs_text(all, slots);
  text += "\t.section .init_array,\"aw\"\n\t.align 8\nSLOTS:\n";
  for (std::size_t i = 0; i < slots; ++i) text += fmt::format("\t.quad {}\n", stub_of(0, i));
  text += fmt::format("\t.section {},\"\",@progbits\n\t.quad SLOTS\n", kTable);
  for (std::size_t subject = 0; subject < all.size(); ++subject) {
    for (const std::string& name : exports)
      text += fmt::format("\t.quad {}{}\n", prefix_of(subject), name);
    for (std::size_t i = 0; i < slots; ++i)
      text += fmt::format("\t.quad {}\n", stub_of(subject, i));
  }
  return text;
}

/// The library that all of them are, with the table.
std::string linked(const std::vector<std::string>& objects, const std::string& entry,
                   const std::vector<std::string>& exports) {
  const ScratchFolder folder("link");
  std::vector<std::string> arguments{"-shared",
                                     "-fopenmp",
                                     "-pthread",
                                     "-s",
                                     "-Wl,-z,defs",
                                     "-Wl,--build-id=none",
                                     "-Wl,--version-script=exports",
                                     "-o",
                                     "solution.so"};
  write_file(folder.path() / "exports",
             fmt::format("{{ global: {}; local: *; }};\n", fmt::join(exports, "; ")));
  for (const std::string& name : exports)
    arguments.push_back(fmt::format("-Wl,--defsym,{}={}{}", name, prefix_of(0), name));
  write_file(folder.path() / "entry.s", entry);
  arguments.push_back("entry.s");
  for (std::size_t i = 0; i < objects.size(); ++i) {
    arguments.push_back(fmt::format("{}.o", i));
    write_file(folder.path() / arguments.back(), objects[i]);
  }
  run_tool(arguments, folder.path());
  return read_file(folder.path() / "solution.so");
}

}  // namespace

std::vector<std::string> assemblies_of(const Subjects& subjects, const Challenge& challenge,
                                       const fs::path& cache,
                                       const std::function<void(const std::string&)>& busy) {
  std::vector<std::string> texts(subjects.size());
  std::mutex mutex;  // of busy
  on_all_cores(subjects.size(), [&](std::size_t i) {
    const auto& [name, solution] = subjects[i];
    {
      const std::lock_guard lock(mutex);
      busy("compiling " + name);
    }
    const BuiltSolution built = build_assembly(*solution, challenge, cache);
    if (!built.record.ok)
      throw Broken(OwnFault::own_solution, fmt::format("{} of {} does not build: {}", name,
                                                       challenge.id, built.record.messages));
    texts[i] = read_file(built.library);
  });
  return texts;
}

SubjectLibraries::SubjectLibraries(const Subjects& subjects, const Challenge& challenge,
                                   const fs::path& cache,
                                   const std::function<void(const std::string&)>& busy) {
  std::vector<Disguise> all;
  for (std::string& text : assemblies_of(subjects, challenge, cache, busy))
    all.emplace_back(std::move(text), prefix_of(all.size()));
  std::size_t slots = 0;
  for (const Disguise& one : all) slots = std::max(slots, one.initialisers().size());
  const std::vector<std::string>& exports = challenge.exports;
  LibraryTemplate library(linked(objects_of(all), entry_text(all, exports, slots), exports));
  const std::vector<std::uint64_t> table = library.take_table(kTable);
  auto next = table.begin() + 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    LibraryTemplate::Entry entry;
    for (auto* part : {&entry.exports, &entry.initialisers}) {
      const std::size_t count = part == &entry.exports ? exports.size() : slots;
      part->assign(next, next + static_cast<std::ptrdiff_t>(count));
      next += static_cast<std::ptrdiff_t>(count);
    }
    write_file(this->library(i), library.leading_to(entry, exports, table[0]));
  }
}

fs::path SubjectLibraries::library(std::size_t subject) const {
  return folder_.path() / fmt::format("{}.so", subject);
}

}  // namespace gauntlet
