// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/interrupt.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

#include "harness/cli/exit_codes.h"
#include "harness/core/hold_interrupts.h"

namespace gauntlet {
namespace {

pid_t main_process = 0;
bool says_json = false;

void say(int fd, const char* text) {
  // Nothing useful can be done about a failed write in a signal handler.
  [[maybe_unused]] const auto written = write(fd, text, std::strlen(text));
}

// Only async-signal-safe calls. Grading processes inherit the handler and have nothing to say.
void on_signal(int signal) {
  const bool terminated = signal == SIGTERM;
  if (getpid() == main_process) {
    say(STDERR_FILENO, "\ninterrupted; finished cells are kept, the same command goes on\n");
    if (says_json)
      say(STDOUT_FILENO, terminated
                             ? "{\"schema\": \"gauntlet.error/1\", \"message\": \"terminated\", "
                               "\"exit_code\": 143}\n"
                             : "{\"schema\": \"gauntlet.error/1\", \"message\": \"interrupted\", "
                               "\"exit_code\": 130}\n");
  }
  _exit(terminated ? kExitTerminated : kExitInterrupted);
}

}  // namespace

void end_on_interrupt(bool json) {
  main_process = getpid();
  says_json = json;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Who started us may have held them back, and such a mask is inherited.
  const sigset_t both = interrupts();
  sigprocmask(SIG_UNBLOCK, &both, nullptr);
}

}  // namespace gauntlet
