// SPDX-License-Identifier: Apache-2.0
// Where time goes when tens of thousands of cells are planned, kept, joined and reported; what
// grades them is a runner that has the answers ready. Run by hand:
//
//   gauntlet_bench_scale [CELLS...]      default: 1000 10000
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <iostream>
#include <sstream>

#include "harness/build/toolchain.h"
#include "harness/cli/app.h"
#include "harness/cli/exit_codes.h"
#include "harness/core/files.h"
#include "harness/grading/provenance_of.h"
#include "harness/run/grading_run.h"
#include "harness/run/shard.h"
#include "harness/store/reuse.h"
#include "tests/store/receipt_sample.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

constexpr int kChecks = 40;
constexpr int kShards = 10;

/// As large as what graders see: many checks that passed, some that did not, some that raced.
CellObservation answer_to(const CellRequest& request) {
  CellObservation cell = sample::cell();
  cell.key = request.key();
  cell.build.compiler = compiler().version;
  cell.build.flags = toolchain(Device::cpu).flags_in_words(toolchain(Device::cpu));
  cell.provenance = provenance_of({GAUNTLET_ROOT, {}, {}, "bench", {}, {}}, request);
  const std::size_t luck = std::hash<std::string>()(cell.key.text());
  for (int i = 0; i < kChecks; ++i) {
    const std::string id = fmt::format("check_{}", i);
    cell.checks.push_back((luck >> (i % 32)) % 8 == 0 ? sample::failed(id) : sample::passed(id));
  }
  CheckObservation timed = sample::passed("speed", Section::performance);
  const double ratio = 0.25 + static_cast<double>(luck % 100) / 100;
  for (const char* name : {"small", "middle", "large"})
    timed.speeds.push_back(
        {name, 9, 1000, 1000 * ratio, ratio, ratio * 0.99, ratio * 1.01, 0.99, 1.01, 0.5, {}});
  cell.checks.push_back(timed);
  return cell;
}

/// Hands out what answer_to() says.
class ReadyRunner : public Runner {
 public:
  std::vector<CellObservation> grade(const std::vector<CellRequest>& requests, const Progress&,
                                     const Finished& finished) override {
    std::vector<CellObservation> cells;
    for (const CellRequest& request : requests) {
      cells.push_back(answer_to(request));
      finished({cells.back(), sample::receipt_of(cells.back()), {}});
    }
    return cells;
  }
};

class Bench {
 public:
  explicit Bench(int cells) {
    const fs::path real = GAUNTLET_ROOT;
    for (const char* part : {"challenges", "graders", "reference", "harness"})
      fs::create_directory_symlink(real / part, root() / part);
    const int challenges = static_cast<int>(all_graders().size());
    fmt::print("{} cells: {} submissions to {} challenges, {} checks each\n", cells,
               cells / challenges, challenges, kChecks + 1);
    for (int i = 0; i < cells / challenges; ++i) add_submission(fmt::format("model{}", i));
  }

  void run() {
    const ResultStore store(root() / "results");
    std::vector<PlannedCell> plan;
    timed("plan, nothing graded", [&] { plan = plan_all(store); });
    const Rubric rubric = load_rubric(root() / "harness/score/rubric.yaml");
    ReadyRunner runner;
    timed("keep observations, scores, receipts",
          [&] { carry_out(runner, store, rubric, plan, [](const CellEvent&) {}); });
    timed("read the store, receipts checked", [&] { load_all_marked(store); });
    share_out(store);
    verb("score", {"score"});
    verb("grade, all reused, with the matrix", [&] {
      std::vector<std::string> words{"grade"};
      words.insert(words.end(), submissions_.begin(), submissions_.end());
      return words;
    }());
    verb("merge ten shards", [&] {
      std::vector<std::string> words{"merge", "--into", (root() / "merged").string()};
      for (int i = 0; i < kShards; ++i) words.push_back(shard(i).string());
      return words;
    }());
    verb("report, for the first time", {"report"});
    verb("report, nothing changed", {"report"});
    std::size_t files = 0;
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root() / "build"))
      if (entry.is_regular_file()) {
        ++files;
        bytes += entry.file_size();
      }
    fmt::print("  {:<44} {:>9} files, {} MiB\n", "the site", files, bytes >> 20);
  }

 private:
  const fs::path& root() const { return folder_.path(); }
  fs::path shard(int i) const { return root() / fmt::format("shard{}", i); }

  void add_submission(const std::string& name) {
    submissions_.push_back(name);
    const fs::path folder = root() / "submissions" / name;
    fs::create_directories(folder);
    write_file(folder / "model.yaml",
               model_card_to_yaml({name, "unknown", "unknown", "unknown", "unknown", "unknown",
                                   "unknown", "unknown", "unknown", "unknown"}));
    for (const GraderEntry& grader : all_graders())
      write_file(folder / grader.id / "solution.cpp", "// " + name + "\n");
  }

  std::vector<PlannedCell> plan_all(const ResultStore& store) const {
    std::vector<PlannedCell> plan;
    for (const std::string& name : submissions_) {
      const SubmissionFolder submission = find_submission(Folders::checkout(root()), name);
      store.claim(submission.key(), submission.folder, root());
      store.save_model_card(submission.key(), model_card_of(submission));
      for (const GraderEntry& grader : all_graders())
        plan.push_back(plan_cell({root(), store, {}, false, {}}, submission,
                                 CellKey::of(name, std::string(grader.id))));
    }
    return plan;
  }

  /// The results again, as ten machines would have left them.
  void share_out(const ResultStore& store) const {
    const auto keys = store.keys();
    for (int i = 0; i < kShards; ++i) {
      const ResultStore part(shard(i));
      const ShardRecord record = record_of({i + 1, kShards}, keys);
      save_shard(part.root(), record);
      for (const CellKey& key : record.cells) {
        part.save(*store.load(key));
        part.close_receipt(*store.load(key), store.load_receipt(key));
      }
    }
  }

  void timed(const std::string& what, const std::function<void()>& work) const {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("  {:<44} {:>9.2f} s\n", what, took.count());
    std::cout << std::flush;
  }

  void verb(const std::string& what, std::vector<std::string> words) const {
    words.insert(words.begin(), {"--root", root().string(), "--quiet", "--allow-weaker-sandbox"});
    std::ostringstream out;
    std::ostringstream err;
    const Program program{root(), GAUNTLET_BIN, "0.1.0", [](const std::string&) { return ""; },
                          out,    err,          false,   false};
    timed(what, [&] {
      if (const int code = run_program(program, words); code != kExitDone)
        fmt::print("  ended with {}: {}\n", code, err.str().substr(0, 300));
    });
  }

  ScratchFolder folder_{"scale"};
  std::vector<std::string> submissions_;
};

}  // namespace

int main(int count, char** words) {
  std::vector<int> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(std::atoi(words[i]));
  if (sizes.empty()) sizes = {1000, 10'000};
  for (const int cells : sizes) Bench(cells).run();
  return 0;
}
