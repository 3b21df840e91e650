// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/testbed.h"

#include <grp.h>
#include <sys/stat.h>
#include <vector>

#include "harness/attacks/trial.h"
#include "harness/build/build_cache.h"
#include "harness/build/cuda_parts.h"
#include "harness/build/toolchain.h"
#include "harness/core/parallel.h"

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
  ForkedTask::end_with_parent();
}

}  // namespace

Testbed::Testbed(const GradingEnvironment& environment, const AttackCorpus& corpus, int cores)
    : corpus_(corpus), cores_(cores), environment_(environment) {
  const fs::path& root = folder_.path();
  open_to_all(root, 0755);
  environment_.root = root;
  environment_.worker = root / "gauntlet-worker";
  environment_.cache = root / "cache";
  environment_.build.limits = kBuildLimits;
  fs::copy_file(environment.worker, environment_.worker);
  copy_cuda_parts(root);
  fs::create_directories(root / "challenges");
  fs::copy(environment.root / "challenges" / corpus.challenge,
           root / "challenges" / corpus.challenge, fs::copy_options::recursive);
  fs::copy_file(environment.root / "challenges" / "cuda.md", root / "challenges" / "cuda.md");
  fs::create_directories(environment_.cache / "builds");
  for (const fs::path& shared : {environment_.cache, environment_.cache / "builds"})
    open_to_all(shared, 0777);
  challenge_ = load_challenge(root, corpus.challenge);
  challenge_.memory_mib = kMemoryMib;
}

void Testbed::settle(bool with_unwalled) {
  // A lock is its user's alone; the one before us is done with it.
  std::error_code not_there;
  for (const fs::path& lock :
       {environment_.cache / "timing.lock", builds_lock(environment_.cache / "builds")})
    fs::remove(lock, not_there);
  decoys_.put_out();
  take_cuda_parts_from(folder_.path());
  compile_all(with_unwalled);
}

void Testbed::compile_all(bool with_unwalled) const {
  std::vector<std::function<void()>> builds;
  for (const Attack& attack : corpus_.attacks)
    if (!attack.builds && attack.is_tried(with_unwalled))
      builds.push_back([&] {
        build_subject(solution(attack.device, attack.text), challenge_, environment_.cache);
      });
  for (const OddProgram& program : corpus_.honest)
    builds.push_back([&] {
      build_solution(solution(program.device, program.text), challenge_, environment_.cache,
                     environment_.build);
    });
  parallel_for(builds.size(), static_cast<std::size_t>(cores_), [&](std::size_t i) {
    try {
      builds[i]();
    } catch (const Broken&) {
      // Whoever tries the program meets the same fault, and has somebody to tell.
    }
  });
}

SolutionSource Testbed::solution(Device device, const std::string& text) const {
  SolutionSource source;
  source.device = device;
  source.files = corpus_.headers;
  source.files.push_back({"decoys.h", decoys_.header()});
  source.files.push_back({std::string(toolchain(device).first_file), text});
  return source;
}

CellRequest Testbed::request(const std::string& name, Device device,
                             const std::string& text) const {
  CellRequest made;
  made.submission = name;
  made.challenge = challenge_;
  made.solution = solution(device, text);
  made.only_checks = {corpus_.check};
  made.audit = true;
  made.grade_tests = false;
  return made;
}

Evidence Testbed::try_attack(const Attack& attack, const Walls& walls) {
  CellRequest wanted = request(attack.name, attack.device, attack.text);
  wanted.subject = !attack.builds;  // what it does when it runs does not depend on how it was built
  wanted.challenge.call_seconds = attack.call_seconds;
  wanted.challenge.check_seconds = attack.check_seconds;
  if (!attack.builds) return try_program(environment_, wanted, walls, decoys_);
  const ScratchFolder fresh("attack-builds");
  GradingEnvironment environment = environment_;
  environment.cache = fresh.path();
  if (attack.build_seconds) environment.build.limits.cpu_seconds = *attack.build_seconds;
  return try_program(environment, wanted, walls, decoys_);
}

Evidence Testbed::try_honest(const OddProgram& program, const Walls& walls) {
  return try_program(environment_, request(program.name, program.device, program.text), walls,
                     decoys_);
}

ForkedTask Testbed::send(const std::function<std::string()>& act, bool as_ordinary_user) const {
  return ForkedTask([&] {
    if (as_ordinary_user && user_) become_ordinary(user_->id());
    return act();
  });
}

}  // namespace gauntlet
