// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/inside/crash_note.h"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <signal.h>
#include <typeinfo>
#include <ucontext.h>
#include <unistd.h>

namespace gauntlet::inside {
namespace {

wire::Control* control_page = nullptr;
alignas(16) char signal_stack[64 * 1024];  // a stack overflow leaves no room on the stack

void on_fault(int number, siginfo_t* info, void* context) {
  wire::CrashNote& words = control_page->crash_note;
  words.address = reinterpret_cast<std::uint64_t>(info->si_addr);
  words.no_address = info->si_code == SI_KERNEL ? 1 : 0;
#if defined(__x86_64__)
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  words.wrote = (registers[REG_ERR] & 2) != 0;
  words.stack_pointer = static_cast<std::uint64_t>(registers[REG_RSP]);
#else
  (void)context;
#endif
  words.signal = static_cast<std::uint32_t>(number);
  signal(number, SIG_DFL);  // returning repeats the faulting instruction, and now it kills
}

/// Describes the exception that nobody caught, before abort() ends the process.
[[noreturn]] void on_terminate() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type != nullptr) {
    int status = 0;
    char* readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    const char* name = readable != nullptr ? readable : type->name();
    const auto say = [name](const char* what) {
      std::snprintf(control_page->text, sizeof control_page->text, "uncaught %s%s%s", name,
                    what[0] != '\0' ? ": " : "", what);
    };
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc& error) {
      control_page->crash_note.out_of_memory = 1;
      say(error.what());
    } catch (const std::exception& error) {
      say(error.what());
    } catch (...) {
      say("");
    }
  }
  std::abort();
}

}  // namespace

void leave_crash_note(wire::Control& control) {
  control_page = &control;
  stack_t stack{};
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof signal_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
  std::set_terminate(on_terminate);
}

void give_up(wire::Control& control, const char* text) {
  std::snprintf(control.text, sizeof control.text, "%s", text);
  _exit(99);
}

}  // namespace gauntlet::inside
