// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/build/challenge.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/run/submissions.h"

namespace gauntlet {
namespace {

VerbResult list_challenges(const Context& context) {
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.challenges/1"}, {"challenges", Json::array()}};
  std::vector<std::vector<std::string>> rows{
      {"Challenge", "Round", "Checks", "Difficulty", "Title", "Devices", "Further sizes"}};
  for (const auto& id : context.challenges()) {
    const Challenge challenge = load_challenge(context.root(), id);
    const auto checks = checks_of(id, Device::cpu).size();
    std::vector<std::string> devices;
    for (const Device device : challenge.devices) devices.emplace_back(name_of(device));
    rows.push_back({id, std::to_string(challenge.round), std::to_string(checks),
                    challenge.difficulty, challenge.title,
                    fmt::format("{}", fmt::join(devices, ", ")),
                    fmt::format("{}", fmt::join(challenge.sizes, ", "))});
    answer.document["challenges"].push_back({{"id", id},
                                             {"title", challenge.title},
                                             {"difficulty", challenge.difficulty},
                                             {"round", challenge.round},
                                             {"devices", Json(devices)},
                                             {"sizes", Json(challenge.sizes)},
                                             {"checks", checks},
                                             {"exports", Json(challenge.exports)}});
  }
  answer.text = aligned(rows, rows.front().size());
  return answer;
}

VerbResult list_checks(const Context& context, const ListOptions& options) {
  const CellKey asked = CellKey::of("@" + options.device, options.challenge);
  const auto known = context.challenges();
  if (!options.challenge.empty()) require_challenge(asked.challenge, known);
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.checks/1"},
                     {"device", name_of(asked.device)},
                     {"checks", Json::array()}};
  for (const auto& id :
       options.challenge.empty() ? known : std::vector<std::string>{asked.challenge}) {
    const std::string why_not = load_challenge(context.root(), id).why_not_on(asked.device);
    if (!why_not.empty() && options.challenge.empty()) continue;
    if (!why_not.empty()) throw UserError(why_not);
    answer.text += CellKey{"", id, "", asked.device}.entry() + "\n";
    for (const CheckInfo& check : checks_of(id, asked.device)) {
      answer.text +=
          fmt::format("  {}\n      {}, {}, weight {:g}: {}\n", check.id, name_of(check.section),
                      name_of(check.severity), check.weight, check.detects);
      answer.document["checks"].push_back({{"challenge", id},
                                           {"id", check.id},
                                           {"detects", check.detects},
                                           {"section", name_of(check.section)},
                                           {"severity", name_of(check.severity)},
                                           {"weight", check.weight}});
    }
  }
  return answer;
}

VerbResult list_submissions(const Context& context) {
  VerbResult answer;
  std::vector<std::string> names;
  for (const auto& name : submission_names(context.workspace)) {
    names.push_back(name);
    for (const auto& attempt : folder_names(context.workspace / "submissions" / name / "attempts"))
      names.push_back(fmt::format("{}#{}", name, attempt));
  }
  answer.document = {{"schema", "gauntlet.submissions/1"}, {"submissions", Json(names)}};
  for (const auto& name : names) {
    const std::string why = why_not_called(name.substr(0, name.find('#')));
    answer.text += why.empty() ? name + "\n" : fmt::format("cannot be graded: {}\n", why);
  }
  if (names.empty()) answer.text = "no submissions; make one with ./gauntlet new <model>\n";
  return answer;
}

}  // namespace

VerbResult list(const Context& context, const ListOptions& options) {
  if (options.what == "challenges") return list_challenges(context);
  if (options.what == "checks") return list_checks(context, options);
  if (options.what == "submissions") return list_submissions(context);
  const std::vector<std::string> known{"challenges", "checks", "submissions"};
  throw UserError(fmt::format("cannot list '{}'{}; known: {}", printable(options.what, 80),
                              did_you_mean(options.what, known), sentence_list(known)));
}

}  // namespace gauntlet
