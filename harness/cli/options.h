// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <CLI/App.hpp>

#include "harness/cli/verbs.h"

namespace gauntlet {

/// What the options write into while CLI11 parses.
struct CommandLineOptions {
  std::string root;
  std::string results;
  std::string seed;
  std::string color = "auto";
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int patience = 20;
  bool json = false;
  bool quiet = false;
  bool version = false;
  bool allow_weaker_sandbox = false;
  ListOptions list;
  NewOptions fresh;
  ExportOptions export_tasks;
  std::vector<std::string> validate;
  GradeOptions grade;
  RewardOptions reward;
  SanitizeOptions sanitize;
  CiOptions ci;
  std::string ci_baseline;
  std::string ci_out;
  RerunOptions rerun;
  VerifyOptions verify;
  RunCellOptions run_cell;
  MergeOptions merge;
  std::string report_folder;
  std::string report_site;
  std::string judgement;
  bool report_check = false;
  CompareOptions compare;
  ShowOptions show;
  AuditOptionsOfUser audit;
  bool record_audit = false;
  CalibrateOptions calibrate;
  std::vector<std::string> help;
};

/// Options of all verbs.
void add_global_options(CLI::App& app, CommandLineOptions& options);

/// Every verb with its options, in the order in which the help shows them.
void add_verbs(CLI::App& app, CommandLineOptions& options);

}  // namespace gauntlet
