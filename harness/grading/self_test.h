// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/grading/audit_suite.h"
#include "harness/grading/cell.h"

namespace gauntlet {

/// What a submission's own tests are put to: solutions known to be right or known to be wrong.
struct SelfTestSubject {
  std::string name;
  SolutionSource solution;
  bool honest = false;
  std::string uses;     // of a right one: which freedom of the contract it takes; may be empty
  std::string made_of;  // of a wrong one: the right subject that it is a change of; may be empty
};

/// The reference, the honest variants and what else mutants are made of, and every mutant that a
/// check of correctness or robustness kills: a test within a time limit cannot be asked to notice
/// slowness.
std::vector<SelfTestSubject> self_test_subjects(const GradingEnvironment& environment,
                                                const Challenge& challenge, const Grader& grader);

/// Compiles the subjects of a challenge that are not compiled yet, on all cores, so that no cell
/// has to. `busy` is told what is being compiled. Throws Broken for one that does not build.
void compile_subjects(const GradingEnvironment& environment, const Challenge& challenge,
                      const Grader& grader, const std::function<void(const std::string&)>& busy);

/// The check `tests_tell_right_from_wrong`, section engineering: links the solution's tests.cpp
/// with each subject, in an order of chance and so that it cannot be known by its code
/// (SubjectLibraries), and calls `int self_test(void)` in the sandbox, a fresh process each. Right
/// solutions must be answered with 0 in time; anything else given a wrong one kills it, if the
/// tests accept the right one that it was made of: whoever refuses both has noticed what they have
/// in common, and that is not the fault. Earns the share of mutants killed less twice the share of
/// right solutions refused, so that refusing everything, or at random, earns nothing. The finding
/// says what the tests said of each right solution that they refuse, and which freedom of the
/// contract that one takes. `busy` is told which subject comes next.
CheckObservation grade_self_test(const GradingEnvironment& environment, const Challenge& challenge,
                                 const SolutionSource& solution,
                                 const std::vector<SelfTestSubject>& subjects,
                                 const std::function<void(const std::string&)>& busy);

CheckInfo self_test_info();

/// Whether a submission's own tests are asked for on this device: they are host code that calls the
/// contract with memory of its process.
bool has_self_tests(Device device);

/// True for a cell in which that check is asked and meets subjects.
bool asks_self_test(const CellRequest& request);

}  // namespace gauntlet
