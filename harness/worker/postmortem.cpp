// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/postmortem.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {
namespace {

constexpr std::uint64_t kNearNull = std::uint64_t{64} << 10;
constexpr std::uint64_t kNearStack = std::uint64_t{64} << 10;
// A buffer's name says more about an address than "the arena", as long as it is not far away.
constexpr std::size_t kNearBuffer = std::size_t{1} << 20;

std::string bytes_text(std::size_t bytes) {
  return bytes == 1 ? "1 byte" : fmt::format("{} bytes", bytes);
}

std::string mib_text(std::size_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

std::string where(const FailureContext& context) {
  return context.call != nullptr ? fmt::format("in `{}`", context.call->symbol)
                                 : std::string("while it was loaded");
}

/// The worker's own words, which a solution may have written: safe to print, on one line.
std::string own_words(const wire::Control& control) {
  const std::string_view text(control.text, strnlen(control.text, sizeof control.text));
  std::string words = printable(text, 300);
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

/// The fault's place, for a sentence that starts with the signal's name.
std::string fault_place(const wire::Control& control, const FailureContext& context) {
  const wire::CrashNote& words = control.crash_note;
  if (words.no_address != 0)
    return " at an address that no process can have, as that of device memory is to the host, or "
           "at one that is misaligned for a vector instruction";
  const std::string verb = words.wrote != 0 ? "writing" : "reading";
  if (context.layout != nullptr) {
    for (const auto& [arena, base] :
         {std::pair{wire::ArenaId::in, control.in_base}, {wire::ArenaId::out, control.out_base}}) {
      if (words.address < base) continue;
      const std::string place =
          name_place(*context.call, *context.layout, arena, words.address - base);
      if (place.empty()) continue;
      const bool inside = place.starts_with("inside");
      if (inside && words.wrote != 0 && arena == wire::ArenaId::in)
        return fmt::format(" writing to its read-only input, {}", place);
      return fmt::format(" {} {}", verb, place);
    }
  }
  if (words.address < kNearNull) return fmt::format(" {} through a null pointer", verb);
  if (words.stack_pointer != 0 && words.address + kNearStack > words.stack_pointer &&
      words.address < words.stack_pointer + kNearStack)
    return ": its stack overflowed";
  return fmt::format(" {} address {:#x}, which is nobody's", verb, words.address);
}

SolutionFailure killed(int signal, const FailureContext& context) {
  const wire::Control& control = context.worker->control();
  const std::string name = signal_name(signal);
  if (signal == SIGSYS)
    return {Verdict::cheated, fmt::format("made a forbidden system call {}", where(context))};
  // Nobody but the kernel, out of memory, sends a SIGKILL that is not ours.
  if (signal == SIGKILL)
    return {Verdict::over_memory, fmt::format("the system ran out of memory {}", where(context))};
  if (signal == SIGABRT && control.crash_note.out_of_memory != 0)
    return {Verdict::over_memory,
            fmt::format("got no more memory {}: {}; the limit is {}", where(context),
                        own_words(control), mib_text(context.memory_bytes))};
  if (signal == SIGABRT) {
    const std::string words = own_words(control);
    return {Verdict::crashed, fmt::format("SIGABRT {}: {}", where(context),
                                          words.empty() ? "it called abort()" : words)};
  }
  if (control.crash_note.signal == static_cast<std::uint32_t>(signal) &&
      (signal == SIGSEGV || signal == SIGBUS))
    return {Verdict::crashed,
            fmt::format("{} {}{}", name, where(context), fault_place(control, context))};
  if (signal == SIGFPE)
    return {Verdict::crashed, fmt::format("SIGFPE {}: integer division by zero", where(context))};
  return {Verdict::crashed, fmt::format("{} {}", name, where(context))};
}

SolutionFailure ended(const FailureContext& context) {
  const WorkerProcess::End end = context.worker->end();
  if (end.how == CLD_EXITED)
    return {Verdict::crashed,
            fmt::format("ended its process with exit code {} {}", end.status, where(context))};
  return killed(end.status, context);
}

}  // namespace

std::string name_place(const CallBase& call, const Layout& layout, wire::ArenaId arena,
                       std::size_t offset) {
  std::size_t nearest = kNearBuffer;
  std::string place;
  for (std::size_t i = 0; i < layout.bodies.size(); ++i) {
    const Body& body = layout.bodies[i];
    const std::string& name = call.buffers()[i].name;
    if (body.arena != arena) continue;
    if (offset >= body.start && offset < body.end)
      return fmt::format("inside `{}`, at byte {} of {}", name, offset - body.start,
                         body.end - body.start);
    const bool after = offset >= body.end;
    const std::size_t distance = after ? offset - body.end + 1 : body.start - offset;
    if (distance >= nearest) continue;
    nearest = distance;
    place = fmt::format("{} {} `{}`", bytes_text(distance),
                        after ? "past the end of" : "before the start of", name);
  }
  return place;
}

SolutionFailure refusal_of(const wire::Control& control) {
  const std::string text =
      printable(std::string_view(control.text, strnlen(control.text, sizeof control.text)));
  if (control.reply != wire::Reply::no_symbol) {
    const std::size_t colon = text.find(": ");  // before it stands a descriptor of ours
    return {Verdict::rejected,
            "cannot be loaded: " + (colon == std::string::npos ? text : text.substr(colon + 2))};
  }
  std::vector<std::string> names;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    names.push_back(text.substr(begin, end - begin));
  if (names.empty())
    return {Verdict::rejected, fmt::format("{}what the contract asks for", kDoesNotDefine)};
  const std::string wanted = names.front();
  names.erase(names.begin());
  return {Verdict::rejected, fmt::format("{}`{}`{}; it exports {}", kDoesNotDefine, wanted,
                                         did_you_mean(wanted, names), sentence_list(names))};
}

SolutionFailure failure_of(WorkerProcess::Event event, const FailureContext& context) {
  switch (event) {
    case WorkerProcess::Event::late:
      return {Verdict::timed_out, context.call != nullptr
                                      ? fmt::format("no answer from `{}` after {} s",
                                                    context.call->symbol, context.seconds)
                                      : fmt::format("not loaded after {} s", context.seconds)};
    case WorkerProcess::Event::over_memory:
      return {Verdict::over_memory,
              fmt::format("used more than {} {}", mib_text(context.memory_bytes), where(context))};
    case WorkerProcess::Event::flooded:
      return {Verdict::crashed, fmt::format("printed more than {} {}",
                                            mib_text(context.output_bytes), where(context))};
    case WorkerProcess::Event::crowded:
      return {Verdict::crashed,
              fmt::format("had more than {} threads at once {}", context.threads, where(context))};
    case WorkerProcess::Event::teamed:
      return {Verdict::wrong,
              fmt::format("had {} threads at once {}, as many as OpenMP was told to give a region "
                          "that does not say how many it wants: num_threads is missing",
                          kOfferedTeam, where(context))};
    case WorkerProcess::Event::headless:
      return {Verdict::crashed,
              fmt::format("ended its main thread {}, and had others go on", where(context))};
    case WorkerProcess::Event::ended:
      return ended(context);
    case WorkerProcess::Event::asked:
      return {Verdict::rejected,
              fmt::format("called back {} where it has no callback", where(context))};
    case WorkerProcess::Event::done:
      break;
  }
  throw Broken(OwnFault::bug, "failure_of: nothing has failed");
}

}  // namespace gauntlet
