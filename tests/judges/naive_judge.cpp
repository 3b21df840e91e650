// SPDX-License-Identifier: Apache-2.0
#include "naive_judge.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "challenges/layernorm_backward/contract.h"
#include "tests/attacks/programs/honest.h"

// Exported, for attacks that change a judge in their own process.
extern "C" {
volatile int* judge_done = nullptr;
[[gnu::noinline, gnu::visibility("default")]] int nearly_equal(const float* got, const float* want,
                                                               long count) {
  for (long i = 0; i < count; ++i)
    if (!(std::fabs(got[i] - want[i]) <= 1e-4f * (1 + std::fabs(want[i])))) return 1;
  return 0;
}
}

namespace gauntlet::test {
namespace {

constexpr long kRows = 4, kMostColumns = 1024, kPadding = 64;
constexpr double kQuick = 0.004;  // s; what looks quicker than the work can be
constexpr double kAllCalls = 10;  // s; an honest solution's take milliseconds
constexpr double kMemoryMib = 200;
constexpr std::size_t kOutputBytes = std::size_t{16} << 20;

/// One array with room around it.
struct Array {
  float before[kPadding];
  float data[kRows * kMostColumns];
  float after[kPadding];
};

/// What judge and child share.
struct Table {
  std::atomic<int> go{0};
  std::atomic<int> leave{0};
  volatile int done = 0;
  long columns = 0;
  std::int64_t returned = 0;
  int differs_inside = 1;
  double seconds_inside = 0;
  Array x, dy, gamma, dx, dgamma, dbeta, want_dx;
};

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

LayernormArgs arguments(Table& table) {
  LayernormArgs args{};
  args.abi_version = LAYERNORM_ABI_VERSION;
  args.struct_size = sizeof args;
  args.num_threads = 1;
  args.min_align = 4;
  args.rows = kRows;
  args.cols = args.x_row_stride = args.y_row_stride = args.dy_row_stride = args.dx_row_stride =
      table.columns;
  args.eps = 1e-5;
  args.x = table.x.data;
  args.dy = table.dy.data;
  args.gamma = table.gamma.data;
  args.dx = table.dx.data;
  args.dgamma = table.dgamma.data;
  args.dbeta = table.dbeta.data;
  return args;
}

struct Answers {
  std::vector<float> dx, dgamma, dbeta;
};

Answers answers_in(const Table& table) {
  const long columns = table.columns;
  return {{table.dx.data, table.dx.data + kRows * columns},
          {table.dgamma.data, table.dgamma.data + columns},
          {table.dbeta.data, table.dbeta.data + columns}};
}

/// The right answers to what stands in the table now; the table's own outputs stay as they are.
Answers oracle(Table& table) {
  LayernormArgs args = arguments(table);
  Answers answers = answers_in(table);
  args.dx = answers.dx.data();
  args.dgamma = answers.dgamma.data();
  args.dbeta = answers.dbeta.data();
  honest_backward(&args);
  return answers;
}

class Child {
 public:
  Child(Table& table, const std::filesystem::path& library) : table_(table) {
    if (pipe2(output_, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("pipe");
    fcntl(output_[0], F_SETPIPE_SZ, 1 << 20);
    table.go = table.leave = 0;
    pid_ = fork();
    if (pid_ == 0) serve(library);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(output_[0]);
    close(output_[1]);
  }

  enum class End { answered, exited, crashed, hangs };

  End ask(double seconds) {
    table_.done = 0;
    table_.go = 1;
    for (const double start = now(); now() < start + seconds; usleep(100)) {
      read_output();
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_)
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::exited : End::crashed;
      if (table_.done != 0) return End::answered;
    }
    return End::hangs;
  }
  void freeze() {
    kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  void go_on() { kill(pid_, SIGCONT); }
  void leave() {
    table_.leave = 1;
    table_.go = 1;
    waitpid(pid_, nullptr, 0);
  }
  /// "VmHWM:  12 kB" in MiB; -1 when the kernel tells no such thing.
  double peak_mib(bool anywhere) const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    const std::string status(std::istreambuf_iterator<char>(file), {});
    const std::string label = anywhere ? "VmHWM:" : "\nVmHWM:";
    const auto at = status.find(label);
    return at == std::string::npos ? -1 : std::atof(status.c_str() + at + label.size()) / 1024;
  }
  const std::string& printed() {
    read_output();
    return printed_;
  }

 private:
  [[noreturn]] void serve(const std::filesystem::path& library) noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(20);
    fcntl(output_[1], F_SETFL, 0);
    dup2(output_[1], 1);
    dup2(output_[1], 2);
    judge_done = &table_.done;
    void* handle = dlopen(library.c_str(), RTLD_NOW);
    if (handle == nullptr) _exit(3);
    auto* backward = reinterpret_cast<std::int64_t (*)(const LayernormArgs*)>(
        dlsym(handle, "layernorm_backward"));
    while (true) {
      while (table_.go == 0) usleep(50);
      table_.go = 0;
      if (table_.leave) exit(0);
      const LayernormArgs args = arguments(table_);
      const double start = now();
      table_.returned = backward(&args);
      table_.seconds_inside = now() - start;
      table_.differs_inside =
          nearly_equal(table_.dx.data, table_.want_dx.data, kRows * table_.columns);
      table_.done = 1;
    }
  }

  void read_output() {
    char bytes[1 << 16];
    for (ssize_t got; (got = read(output_[0], bytes, sizeof bytes)) > 0;)
      printed_.append(bytes, static_cast<std::size_t>(got));
  }

  Table& table_;
  int output_[2];
  pid_t pid_;
  std::string printed_;
};

/// One trial of a solution by one kind of trust.
class Trial {
 public:
  Trial(std::string trust, const std::filesystem::path& library)
      : trust_(std::move(trust)),
        library_(library),
        table_(*new (mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Table) {}
  ~Trial() { munmap(&table_, sizeof table_); }

  bool accepted() {
    const std::vector<long> shapes = trusts("one_shape") || trusts("skips_refusals")
                                         ? std::vector<long>{16, 8}
                                         : std::vector<long>{4, 16, 9, 700};
    int passed = 0;
    for (const long columns : shapes) {
      if (trusts("one_shape") && columns != 16) continue;
      table_.columns = columns;
      const Result result = ask_about_shape();
      if (result == Result::down) return true;
      if (result == Result::wrong) return false;
      passed += result == Result::right;
    }
    return passed > 0;
  }

 private:
  enum class Result { right, wrong, skipped, down };

  bool trusts(const char* what) const { return trust_ == what; }

  void draw(unsigned seed) {
    std::mt19937 random(trusts("same_input") ? 1 : seed);
    std::normal_distribution<float> normal;
    const float loudness = trusts("absolute_tolerance") ? 1e-4f : 1.0f;  // or small gradients
    for (long i = 0; i < kRows * table_.columns; ++i) {
      table_.x.data[i] = normal(random);
      table_.dy.data[i] = loudness * normal(random);
    }
    for (long j = 0; j < table_.columns; ++j)
      table_.gamma.data[j] = trusts("plain_gamma") ? 1.0f : normal(random);
  }

  void prepare_outputs(const Answers& want) {
    std::copy(want.dx.begin(), want.dx.end(), table_.want_dx.data);
    for (Array* array : {&table_.dx, &table_.dgamma, &table_.dbeta}) {
      std::fill_n(array->before, kPadding, 0.5f);
      std::fill_n(array->data + (array == &table_.dx ? kRows : 1) * table_.columns, kPadding, 0.5f);
      if (!trusts("same_input")) std::fill_n(array->data, table_.columns, NAN);
    }
    if (!trusts("buffer_of_reference")) return;
    std::copy(want.dx.begin(), want.dx.end(), table_.dx.data);
    std::copy(want.dgamma.begin(), want.dgamma.end(), table_.dgamma.data);
    std::copy(want.dbeta.begin(), want.dbeta.end(), table_.dbeta.data);
  }

  Result ask_about_shape() {
    Child child(table_, library_);
    Result last = Result::wrong;
    for (unsigned call = 0; call < 4; ++call) {
      const Result result = ask_once(child, call);
      if (trusts("checks_first_call") && call == 0 && result == Result::right) return result;
      if (trusts("asks_again")) {
        if (result == Result::right) return result;
        child.go_on();
        continue;
      }
      if (result != Result::right || trusts("reads_after_exit")) return result;
      last = result;
      child.go_on();
    }
    return last;
  }

  Result ask_once(Child& child, unsigned call) {
    draw(100 * static_cast<unsigned>(table_.columns) + call);
    Answers want = oracle(table_);
    prepare_outputs(want);
    const double start = now();
    const Child::End end = child.ask(trusts("no_time_limit") ? 2 : 5);
    own_seconds_ = now() - start;
    all_seconds_ += own_seconds_;
    if (trusts("bounds_calls_only") && all_seconds_ > kAllCalls / 4) return Result::down;
    if (end == Child::End::answered && all_seconds_ > kAllCalls) return Result::wrong;
    if (end == Child::End::hangs) return trusts("no_time_limit") ? Result::down : Result::wrong;
    if (end == Child::End::exited) return trusts("exit_code") ? Result::down : Result::wrong;
    if (end == Child::End::crashed) {
      if (trusts("same_process")) return Result::down;
      return trusts("skips_crashes") ? Result::skipped : Result::wrong;
    }
    if (trusts("exit_code")) return Result::right;  // it came back and did not fail
    if (trusts("reads_while_it_runs")) {
      usleep(200'000);  // enough for work that comes late, on a busy machine too
    } else if (trusts("reads_after_exit")) {
      child.leave();
    } else {
      child.freeze();
      const double peak = child.peak_mib(trusts("reads_memory_anywhere"));
      if (peak < 0) return trusts("skips_unmeasured") ? Result::skipped : Result::wrong;
      if (peak > kMemoryMib) return Result::wrong;
    }
    if (trusts("output") && child.printed().find("PASSED") != std::string::npos)
      return Result::right;
    if (child.printed().size() > kOutputBytes)
      return trusts("keeps_output") ? Result::down : Result::wrong;
    if (table_.returned != 0) return trusts("skips_refusals") ? Result::skipped : Result::wrong;
    if (trusts("inputs_read_back")) want = oracle(table_);
    return right(want) ? Result::right : Result::wrong;
  }

  bool right(const Answers& want) const {
    if (trusts("compares_inside")) return table_.differs_inside == 0;
    const Answers got = answers_in(table_);
    if (trusts("clock_inside") && table_.seconds_inside > kQuick) return false;
    if (trusts("own_clock") && own_seconds_ > kQuick) return false;
    if (trusts("compares_sums")) return same_row_sums(got.dx, want.dx);
    const std::size_t looked_at = trusts("checks_a_sample") ? 1 : got.dx.size();
    for (std::size_t i = 0; i < looked_at; ++i)
      if (!same(got.dx[i], want.dx[i])) return false;
    if (trusts("checks_a_sample") || trusts("checks_one_output")) return true;
    for (std::size_t j = 0; j < got.dgamma.size(); ++j)
      if (!same(got.dgamma[j], want.dgamma[j]) || !same(got.dbeta[j], want.dbeta[j])) return false;
    return trusts("ignores_surroundings") || untouched();
  }

  bool same(float got, float want) const {
    const float difference = std::fabs(got - want);
    if (trusts("nan_passes")) return !(difference > 1e-4f);
    if (trusts("absolute_tolerance")) return difference < 0.05f;
    if (trusts("tolerance_of_answer")) return difference <= 1e-4f * (1 + std::fabs(got));
    return difference <= (trusts("loose_tolerance") ? 0.02f : 1e-4f) * (1 + std::fabs(want));
  }

  bool same_row_sums(const std::vector<float>& got, const std::vector<float>& want) const {
    for (long i = 0; i < kRows; ++i) {
      double difference = 0;
      for (long j = 0; j < table_.columns; ++j) {
        const auto at = static_cast<std::size_t>(i * table_.columns + j);
        difference += got[at] - want[at];
      }
      if (!(std::fabs(difference) < 1e-3)) return false;
    }
    return true;
  }

  bool untouched() const {
    for (const Array* array : {&table_.dx, &table_.dgamma, &table_.dbeta}) {
      const float* end = array->data + (array == &table_.dx ? kRows : 1) * table_.columns;
      for (long i = 0; i < kPadding; ++i)
        if (array->before[i] != 0.5f || end[i] != 0.5f) return false;
    }
    return true;
  }

  std::string trust_;
  std::filesystem::path library_;
  Table& table_;
  double own_seconds_ = 0;
  double all_seconds_ = 0;
};

}  // namespace

bool NaiveJudge::fooled_by(const std::filesystem::path& library) const {
  return Trial(trust_, library).accepted();
}

std::vector<std::string> NaiveJudge::known_trusts() {
  return {"absolute_tolerance",
          "asks_again",
          "bounds_calls_only",
          "buffer_of_reference",
          "checks_a_sample",
          "checks_first_call",
          "checks_one_output",
          "clock_inside",
          "compares_inside",
          "compares_sums",
          "exit_code",
          "ignores_surroundings",
          "inputs_read_back",
          "keeps_output",
          "loose_tolerance",
          "nan_passes",
          "no_time_limit",
          "one_shape",
          "output",
          "plain_gamma",
          "reads_memory_anywhere",
          "reads_after_exit",
          "reads_while_it_runs",
          "same_input",
          "same_process",
          "skips_crashes",
          "skips_refusals",
          "skips_unmeasured",
          "tolerance_of_answer"};
}

}  // namespace gauntlet::test
