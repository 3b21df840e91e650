// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/interrupt.h"

#include <csignal>
#include <cstring>
#include <unistd.h>
#include <utility>

#include "harness/cli/exit_codes.h"
#include "harness/core/hold_interrupts.h"

namespace gauntlet {
namespace {

pid_t main_process = 0;
bool says_json = false;
const char* last_remark = "";
const char* last_answer = "";

void say(int fd, const char* text) {
  for (std::size_t left = std::strlen(text); left > 0;) {
    const ssize_t written = write(fd, text, left);
    if (written < 0) return;  // nothing useful can be done about it in a signal handler
    text += written;
    left -= static_cast<std::size_t>(written);
  }
}

// Only async-signal-safe calls. Grading processes inherit the handler and have nothing to say.
void on_signal(int signal) {
  const bool terminated = signal == SIGTERM;
  if (getpid() == main_process) {
    say(STDERR_FILENO, "\ninterrupted");
    say(STDERR_FILENO, last_remark);
    say(STDERR_FILENO, "\n");
    if (last_answer[0] != '\0')
      say(STDOUT_FILENO, last_answer);
    else if (says_json)
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
  leave_last_words({});
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Who started us may have held them back, and such a mask is inherited.
  const sigset_t both = interrupts();
  sigprocmask(SIG_UNBLOCK, &both, nullptr);
}

void leave_last_words(LastWords words) {
  static LastWords kept;
  const HoldInterrupts hold;
  kept = std::move(words);
  if (!kept.remark.empty()) kept.remark.insert(0, "; ");
  last_remark = kept.remark.c_str();
  last_answer = kept.answer.c_str();
}

}  // namespace gauntlet
