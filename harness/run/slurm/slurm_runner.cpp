// SPDX-License-Identifier: Apache-2.0
#include "harness/run/slurm/slurm_runner.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <deque>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/hold_interrupts.h"
#include "harness/core/text.h"
#include "harness/run/broken_cell.h"
#include "harness/run/slurm/handed_over.h"

namespace gauntlet {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits so long; answers with the interrupt that ended the wait, 0 for none. They have to be held
/// back.
int wait_for_interrupt(std::chrono::milliseconds span) {
  const sigset_t both = interrupts();
  const timespec time{span.count() / 1000, span.count() % 1000 * 1'000'000};
  return std::max(0, sigtimedwait(&both, nullptr, &time));
}

/// A task of the array that is with the cluster.
struct Task {
  CellTry which;
  bool started = false;                    // it was seen to run
  std::string commitment;                  // that was told
  std::optional<Clock::time_point> ended;  // when it was first seen to have ended
  bool done = false;                       // its cell is graded, or waits for another try
};

/// All cells of one run, until all are graded.
class ClusterRun {
 public:
  ClusterRun(const SlurmRunner::Setting& setting, const std::vector<CellRequest>& requests,
             const Progress& progress, const Finished& finished)
      : setting_(setting),
        requests_(requests),
        progress_(progress),
        finished_(finished),
        folder_(setting.folder, setting.command),
        slurm_(setting.terms, "gauntlet-" + folder_.name()),
        cells_(requests.size()) {
    for (std::size_t i = 0; i < requests.size(); ++i) waiting_.push_back({i, 1});
  }
  ~ClusterRun() {
    if (job_.empty()) return;
    try {
      slurm_.cancel();
    } catch (const std::exception&) {  // of what ended the run, the first error counts
    }
  }
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  std::vector<CellObservation> run() {
    const auto largest = static_cast<std::size_t>(slurm_.largest_array());
    for (const CellTry& one : waiting_) folder_.write_request(one.request, requests_[one.request]);
    while (!waiting_.empty()) {
      submit(std::min(largest, waiting_.size()));
      answered_at_ = Clock::now();
      while (std::any_of(tasks_.begin(), tasks_.end(), [](const Task& t) { return !t.done; }))
        look();
      job_.clear();
    }
    return std::move(cells_);
  }

 private:
  void submit(std::size_t count) {
    tasks_.clear();
    std::vector<CellTry> tries;
    for (; tries.size() < count; waiting_.pop_front()) {
      tries.push_back(waiting_.front());
      tasks_.push_back({waiting_.front(), false, "", std::nullopt, false});
    }
    job_ = slurm_.submit(folder_.array_of(tries), static_cast<int>(count), folder_.logs());
  }

  void look() {
    if (const int signal = wait_for_interrupt(setting_.look); signal != 0) end_by(signal);
    const auto queue = slurm_.queue(job_);
    if (queue) answered_at_ = Clock::now();
    const auto answered = folder_.answered();
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      Task& task = tasks_[i];
      if (task.done) continue;
      if (answered.contains(task.which.name()))
        take_over(i);
      else if (queue)
        follow(i, *queue);
    }
    if (queue) tell_of_queue(*queue);
    if (!queue && Clock::now() - answered_at_ > setting_.silence)
      throw Broken(OwnFault::cluster,
                   fmt::format("Slurm has not answered for {} s", setting_.silence.count()));
  }

  [[noreturn]] void end_by(int signal) {
    slurm_.cancel();
    job_.clear();
    folder_.remove();
    raise(signal);  // which is held back until here
    const sigset_t both = interrupts();
    sigprocmask(SIG_UNBLOCK, &both, nullptr);
    throw Broken(OwnFault::interrupted, "the run was interrupted");
  }

  /// What the queue says of a task that has not answered.
  void follow(std::size_t index, const SlurmQueue& queue) {
    Task& task = tasks_[index];
    const auto found = queue.find(static_cast<int>(index));
    const bool gone = found == queue.end();
    if (!gone && found->second.running()) tell_start(task);
    if (!gone && !found->second.ended()) return;
    if (!task.ended) task.ended = Clock::now();
    // A script that came to its end has written its answer, which is on its way.
    const bool by_itself =
        gone || found->second.state == "COMPLETED" || found->second.state == "FAILED";
    if (by_itself && Clock::now() - *task.ended < setting_.lag) return;
    lose(index, gone ? "it left the queue without an answer"
                     : fmt::format("{} on {}", found->second.state, found->second.node));
  }

  void tell_start(Task& task) {
    const CellRequest& request = requests_[task.which.request];
    if (!task.started) progress_({CellEvent::Kind::building, request.key(), ""});
    task.started = true;
    const ResultStore results = folder_.results(task.which);
    const std::filesystem::path opened = results.opened_file(request.key());
    if (!task.commitment.empty() || !std::filesystem::exists(opened)) return;
    try {
      commit(task, receipt_from_json(read_file(opened, kReceiptFile), opened.string()));
    } catch (const UserError&) {
      // It has just ended: the receipt that comes with its answer says the same.
    }
  }

  /// The run is bound to its seed here as well, so that whoever ends it keeps no grade of before.
  void commit(Task& task, const Receipt& receipt) {
    const CellRequest& request = requests_[task.which.request];
    task.commitment = receipt.commitment;
    if (request.results.empty()) return;
    Receipt opened = receipt;
    opened.closing.reset();
    ResultStore(request.results).open_receipt(opened);
    progress_({CellEvent::Kind::committed, request.key(), receipt.commitment});
  }

  void take_over(std::size_t index) {
    Task& task = tasks_[index];
    const CellRequest& request = requests_[task.which.request];
    try {
      const GradedCell cell = handed_over(folder_, task.which, request);
      if (cell.receipt) {
        if (task.commitment != cell.receipt->commitment) commit(task, *cell.receipt);
        if (!request.results.empty())
          progress_({CellEvent::Kind::closed, request.key(), closing_digest(*cell.receipt)});
      }
      finish(task, cell);
    } catch (const std::exception& error) {
      lose(index, error.what());
    }
  }

  /// The cluster, or the way from there, took the cell away. It is nobody's failure.
  void lose(std::size_t index, std::string why) {
    Task& task = tasks_[index];
    const CellRequest& request = requests_[task.which.request];
    const int number = static_cast<int>(index);
    if (accounts_) {
      const auto account = slurm_.account(job_, number);
      accounts_ = account.has_value();  // where there are none, nobody is asked again
      if (account) why = fmt::format("{} ({})", why, *account);
    }
    const std::string log = Slurm::log_name(job_, number);
    if (const std::string words = folder_.last_words(log); !words.empty())
      why += fmt::format("; it said: {}", words);
    why = fmt::format("job {}_{} was lost: {}", job_, number, one_line(why, 800));
    if (task.which.number < SlurmRunner::kMostTries) {
      progress_({CellEvent::Kind::waiting, request.key(), why + "; it is graded again"});
      waiting_.push_back({task.which.request, task.which.number + 1});
      task.done = true;
      return;
    }
    folder_.keep();
    finish(task,
           {broken_cell(request, Broken(OwnFault::cluster,
                                        fmt::format("{}; logs: {}", why, folder_.logs().string()))),
            std::nullopt});
  }

  void finish(Task& task, const GradedCell& cell) {
    task.done = true;
    cells_[task.which.request] = cell.observation;
    progress_(done_event(cell.observation));
    if (finished_) finished_(cell);
  }

  /// How many jobs run, and why the others do not: when it changes.
  void tell_of_queue(const SlurmQueue& queue) {
    const std::string text = summary_of(queue);
    const auto first =
        std::find_if(tasks_.begin(), tasks_.end(), [](const Task& task) { return !task.done; });
    if (text.empty() || text == told_ || first == tasks_.end()) return;
    told_ = text;
    progress_({CellEvent::Kind::waiting, requests_[first->which.request].key(), text});
  }

  const SlurmRunner::Setting& setting_;
  const std::vector<CellRequest>& requests_;
  const Progress& progress_;
  const Finished& finished_;
  JobFolder folder_;
  Slurm slurm_;
  std::vector<CellObservation> cells_;
  std::deque<CellTry> waiting_;
  std::vector<Task> tasks_;  // of the array that is with the cluster
  std::string job_;          // which that is; empty: none
  Clock::time_point answered_at_;
  std::string told_;
  bool accounts_ = true;
};

}  // namespace

std::vector<CellObservation> SlurmRunner::grade(const std::vector<CellRequest>& requests,
                                                const Progress& progress,
                                                const Finished& finished) {
  if (requests.empty()) return {};
  const HoldInterrupts hold;  // they end the wait, and then the jobs
  return ClusterRun(setting_, requests, progress, finished).run();
}

}  // namespace gauntlet
