// SPDX-License-Identifier: Apache-2.0
#include "harness/run/slurm/job_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/run/cell_request_json.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kAnswer = ".json";

/// What a task runs: FOLDER ARRAY COMMAND... The words of the command come as they are, whatever
/// characters stand in them.
constexpr std::string_view kScript = R"(#!/bin/sh
folder=$1 array=$2
shift 2
umask 077
try=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$folder/$array") || exit
answer=$folder/answers/$try.json
"$@" --json run-cell "$folder/requests/${try%.*}.json" --out "$folder/out/$try" >"$answer.part"
code=$?
mv "$answer.part" "$answer"
exit $code
)";

}  // namespace

std::string CellTry::name() const {
  return fmt::format("{}.{}", request, number);
}

JobFolder::JobFolder(const fs::path& parent, std::vector<std::string> words)
    : words_(std::move(words)) {
  std::error_code error;
  fs::create_directories(parent, error);  // the next line says what is wrong
  std::string made = (fs::absolute(parent) / "run-XXXXXX").string();
  if (mkdtemp(made.data()) == nullptr)  // which nobody else can enter
    throw UserError(fmt::format("cannot make a folder for the cluster's jobs in {}: {}",
                                one_line(parent.string(), 400), std::strerror(errno)));
  path_ = made;
  for (const char* part : {"requests", "answers", "out", "logs"})
    fs::create_directory(path_ / part);
  write_file(path_ / "grade_cell.sh", kScript);
}

JobFolder::~JobFolder() {
  if (!kept_) remove();
}

void JobFolder::remove() const {
  std::error_code ignored;  // a job that is being ended may still write
  fs::remove_all(path_, ignored);
}

void JobFolder::write_request(std::size_t number, const CellRequest& request) const {
  write_file(path_ / "requests" / fmt::format("{}.json", number), to_json(request));
}

std::vector<std::string> JobFolder::array_of(const std::vector<CellTry>& tries) {
  const std::string array = fmt::format("array-{}", ++arrays_);
  std::string lines;
  for (const CellTry& one : tries) lines += one.name() + "\n";
  write_file(path_ / array, lines);
  std::vector<std::string> words{(path_ / "grade_cell.sh").string(), path_.string(), array};
  words.insert(words.end(), words_.begin(), words_.end());
  return words;
}

std::set<std::string> JobFolder::answered() const {
  // To read the folder makes a network's file system look again; to ask for a name might not.
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_ / "answers")) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(kAnswer)) continue;
    name.resize(name.size() - kAnswer.size());
    names.insert(std::move(name));
  }
  return names;
}

Json JobFolder::answer(const CellTry& one) const {
  const fs::path file = path_ / "answers" / (one.name() + std::string(kAnswer));
  Json said = parsed_json(read_file(file, kResultFile), file.string());
  if (!said.is_object()) throw UserError(file.string() + ": is no answer of run-cell");
  return said;
}

ResultStore JobFolder::results(const CellTry& one) const {
  return ResultStore(path_ / "out" / one.name());
}

std::string JobFolder::last_words(const std::string& log) const {
  constexpr std::size_t kLast = 300;
  std::error_code gone;
  if (!fs::exists(logs() / log, gone)) return "";
  const std::string text = read_file(logs() / log);
  return one_line(text.substr(text.size() - std::min(text.size(), kLast)));
}

}  // namespace gauntlet
