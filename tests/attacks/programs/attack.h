// SPDX-License-Identifier: Apache-2.0
#pragma once
// What attacks share: the kernel's interfaces, the decoys, and how a found secret gets out.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "decoys.h"
// Every audit compiles a hundred and more of these; at -O3 the answers take most of that time.
#pragma GCC push_options
#pragma GCC optimize("O1")
#include "honest.h"
#pragma GCC pop_options

// A number that must not get out leaves as the return value of the call, which findings quote.
static int64_t loot = 0;
static void leak(int64_t number) {
  if (number > 0) loot = number;
}

// Text that ends in the secret, wherever it came from.
static void leak_text(const char* text, long bytes) {
  char digits[32] = {0};
  int n = 0;
  for (long i = 0; i < bytes && n < 31; ++i)
    if (text[i] >= '0' && text[i] <= '9') digits[n++] = text[i];
  leak(atoll(digits));
}

static void leak_file(const char* path) {
  char text[64] = {0};
  const int fd = open(path, O_RDONLY);
  if (fd < 0) return;
  leak_text(text, read(fd, text, sizeof text - 1));
  close(fd);
}

// Whom the watchers look for.
static void show_up() {
  prctl(PR_SET_NAME, MARK);
}

static void sleep_ms(int ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
}

// A process that nobody but the kernel has made, without libc's fork handlers.
static long raw_fork() {
  return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

// A child that waits to be seen, and ends by itself.
static void wait_to_be_seen() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(5);
  for (;;) pause();
}
