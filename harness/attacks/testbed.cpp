#include "harness/attacks/testbed.h"

#include <array>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include "harness/attacks/trial.h"
#include "harness/core/machine.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Enough for honest programs of this size, little enough for bombs to be over soon.
constexpr int kMemoryMib = 256;
constexpr Limits kBuildLimits{.wall_seconds = 120, .cpu_seconds = 3};

void open_to_all(const fs::path& path, mode_t mode) {
  if (chmod(path.c_str(), mode) != 0) broken_call("chmod of " + path.string());
}

void become_ordinary(uid_t id) {
  if (setgroups(0, nullptr) != 0 || setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
    broken_call("becoming an ordinary user");
}

std::string all_of(int in) {
  std::string text;
  std::array<char, 4096> bytes;
  while (true) {
    const ssize_t got = read(in, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

void send_all(int out, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(out, text.data() + sent, text.size() - sent);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
}

}  // namespace

Testbed::Testbed(const Workshop& workshop, const AttackCorpus& corpus)
    : corpus_(corpus), workshop_(workshop) {
  const fs::path& root = folder_.path();
  open_to_all(root, 0755);
  workshop_.root = root;
  workshop_.worker = root / "gauntlet-worker";
  workshop_.cache = root / "cache";
  workshop_.build.limits = kBuildLimits;
  fs::copy_file(workshop.worker, workshop_.worker);
  fs::create_directories(root / "challenges");
  fs::copy(workshop.root / "challenges" / corpus.challenge, root / "challenges" / corpus.challenge,
           fs::copy_options::recursive);
  fs::create_directories(workshop_.cache / "builds");
  for (const fs::path& shared : {workshop_.cache, workshop_.cache / "builds"})
    open_to_all(shared, 0777);
  challenge_ = load_challenge(root, corpus.challenge);
  challenge_.memory_mib = kMemoryMib;
}

void Testbed::settle() {
  decoys_.put_out();
  compile_all();
}

void Testbed::compile(const std::string& text) const {
  try {
    build_solution(solution(text), challenge_, workshop_.cache, workshop_.build);
  } catch (const Broken&) {
    // Whoever tries the program meets the same fault, and has somebody to tell.
  }
}

void Testbed::compile_all() const {
  std::vector<const std::string*> texts;
  for (const Attack& attack : corpus_.attacks)
    if (!attack.builds) texts.push_back(&attack.text);
  for (const OddProgram& program : corpus_.honest) texts.push_back(&program.text);
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < this_machine().cores; ++i)
    threads.emplace_back([&] {
      for (std::size_t mine = next++; mine < texts.size(); mine = next++) compile(*texts[mine]);
    });
}

SolutionSource Testbed::solution(const std::string& text) const {
  SolutionSource source;
  source.files = corpus_.headers;
  source.files.push_back({"decoys.h", decoys_.header()});
  source.files.push_back({"solution.cpp", text});
  return source;
}

CellRequest Testbed::request(const std::string& name, const std::string& text) const {
  CellRequest made;
  made.submission = name;
  made.challenge = challenge_;
  made.solution = solution(text);
  made.only_checks = {corpus_.check};
  made.audit = true;
  made.grade_tests = false;
  return made;
}

Evidence Testbed::try_attack(const Attack& attack, const Defences& defences) {
  CellRequest wanted = request(attack.name, attack.text);
  wanted.challenge.call_seconds = attack.call_seconds;
  if (!attack.builds) return try_program(workshop_, wanted, defences, decoys_);
  const ScratchFolder fresh("attack-builds");
  Workshop workshop = workshop_;
  workshop.cache = fresh.path();
  return try_program(workshop, wanted, defences, decoys_);
}

Evidence Testbed::try_honest(const OddProgram& program, const Defences& defences) {
  return try_program(workshop_, request(program.name, program.text), defences, decoys_);
}

std::string Testbed::as_ordinary_user(const std::function<std::string()>& act) const {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) broken_call("pipe");
  const Fd in(ends[0]);
  Fd out(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) broken_call("fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      if (user_) become_ordinary(user_->id());
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user takes it back
      send_all(out.get(), "+" + act());
    } catch (const std::exception& error) {
      send_all(out.get(), std::string("-") + error.what());
    }
    _exit(EXIT_SUCCESS);
  }
  out.reset();
  const std::string text = all_of(in.get());
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (text.starts_with("+")) return text.substr(1);
  throw Broken(text.empty() ? "the process of the ordinary user died" : text.substr(1));
}

}  // namespace gauntlet
