// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/corpus.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "harness/attacks/effects.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

/// What stands around a program's statements, and for which device that is.
struct Frame {
  Device device;
  std::string text;
};
/// By the key that the statements are given with.
using Frames = std::map<std::string, Frame>;

std::string optional_text(YamlFields& entry, const std::string& key) {
  return entry.has(key) ? entry.text(key) : "";
}

std::vector<std::string> optional_texts(YamlFields& entry, const std::string& key) {
  return entry.has(key) ? entry.texts(key) : std::vector<std::string>();
}

void put(std::string& frame, const std::string& place, const std::string& text) {
  frame.replace(frame.find(place), place.size(), text);
}

void read_frames(YamlFields entry, Device device, Frames& frames) {
  for (const std::string& key : entry.keys()) {
    const std::string text = entry.text(key);
    for (const char* place : {"{before}", "{statements}"})
      if (text.find(place) == std::string::npos)
        entry.refuse(key,
                     fmt::format("nothing says where {} goes; write it where it belongs", place));
    if (!frames.insert({key, {device, text}}).second)
      entry.refuse(key, "another frame has this key");
  }
}

/// `source` and `cuda_source` are everything; other statements stand in the frame of their key.
template <class Program>
void read_text(YamlFields& entry, const Frames& frames, Program& program) {
  const std::string before = optional_text(entry, "before");
  if (entry.has("source")) {
    program.text = entry.text("source");
    return;
  }
  if (entry.has("cuda_source")) {
    program.device = Device::cuda;
    program.text = entry.text("cuda_source");
    return;
  }
  for (const auto& [key, frame] : frames) {
    if (!entry.has(key)) continue;
    program.device = frame.device;
    program.text = frame.text;
    put(program.text, "{statements}", entry.text(key));
    put(program.text, "{before}", before);
    return;
  }
  entry.refuse("source", "it is missing, and so is every key of a frame in programs.yaml");
}

/// Why an attack cannot name it as what stops it; empty: it can.
std::string problem_with_wall(const std::string& name) {
  try {
    const Wall& wall = wall_named(name);
    return wall.no_attack.empty() ? ""
                                  : fmt::format("no attack can name {}: {}", name, wall.no_attack);
  } catch (const UserError& error) {
    return error.what();
  }
}

Effect read_effect(YamlFields& entry) {
  const std::string text = entry.text("effect");
  const std::size_t blank = text.find(' ');
  Effect effect{text.substr(0, blank), "", 0};
  if (!is_effect(effect.kind))
    entry.refuse("effect", fmt::format("'{}' is no effect; there are {}", effect.kind,
                                       sentence_list(effect_names())));
  if (blank == std::string::npos) return effect;
  effect.word = text.substr(blank + 1);
  effect.amount = std::strtod(effect.word.c_str(), nullptr);
  return effect;
}

Attack read_attack(YamlFields entry, const Frames& frames) {
  Attack attack;
  attack.name = entry.text("name");
  attack.category = entry.text("class");
  attack.goal = entry.text("goal");
  attack.effect = read_effect(entry);
  attack.stopped_by = optional_texts(entry, "stopped_by");
  attack.fools = optional_texts(entry, "fools");
  attack.no_control = optional_text(entry, "no_control");
  if (attack.stopped_by.empty() + attack.fools.empty() + attack.no_control.empty() != 2)
    entry.refuse("stopped_by",
                 "an attack says exactly one of stopped_by (walls), fools (naive judges) and "
                 "no_control (why there is none)");
  for (const std::string& name : attack.stopped_by)
    if (const std::string problem = problem_with_wall(name); !problem.empty())
      entry.refuse("stopped_by", problem);
  for (const std::string& word : entry.texts("verdicts")) {
    try {
      attack.verdicts.push_back(verdict_named(word));
    } catch (const std::invalid_argument& error) {
      entry.refuse("verdicts", error.what());
    }
  }
  if (entry.has("call_seconds")) attack.call_seconds = entry.number("call_seconds");
  if (entry.has("check_seconds")) attack.check_seconds = entry.number("check_seconds");
  if (entry.has("build_seconds"))
    attack.build_seconds = static_cast<int>(entry.integer("build_seconds"));
  attack.builds = entry.has("builds") && entry.truth("builds");
  read_text(entry, frames, attack);
  entry.refuse_unknown();
  return attack;
}

OddProgram read_odd(YamlFields entry, const Frames& frames) {
  OddProgram program;
  program.name = entry.text("name");
  program.oddity = entry.text("oddity");
  read_text(entry, frames, program);
  entry.refuse_unknown();
  return program;
}

void read_programs(AttackCorpus& corpus, const fs::path& file, const Frames& frames,
                   std::set<std::string>& names) {
  YamlFields fields = YamlFields::of_file(file);
  const auto take_name = [&](const YamlFields& entry, const std::string& name) {
    if (!names.insert(name).second) entry.refuse("name", "another program has this name");
  };
  if (fields.has("attacks"))
    for (const YamlFields& entry : fields.list("attacks")) {
      corpus.attacks.push_back(read_attack(entry, frames));
      take_name(entry, corpus.attacks.back().name);
    }
  if (fields.has("honest"))
    for (const YamlFields& entry : fields.list("honest")) {
      corpus.honest.push_back(read_odd(entry, frames));
      take_name(entry, corpus.honest.back().name);
    }
  fields.refuse_unknown();
}

}  // namespace

AttackCorpus load_attacks(const fs::path& root) {
  const fs::path folder = root / "tests" / "attacks";
  AttackCorpus corpus;
  YamlFields about = YamlFields::of_file(folder / "programs.yaml");
  corpus.challenge = about.text("challenge");
  corpus.check = about.text("check");
  Frames frames;
  read_frames(about.fields("frames"), Device::cpu, frames);
  if (about.has("cuda_frames")) read_frames(about.fields("cuda_frames"), Device::cuda, frames);
  const std::vector<std::string> topics = about.texts("topics");
  about.refuse_unknown();
  std::set<std::string> names;
  for (const std::string& topic : topics)
    read_programs(corpus, folder / (topic + ".yaml"), frames, names);
  for (const auto& entry : fs::directory_iterator(folder / "programs"))
    corpus.headers.push_back({entry.path().filename().string(), read_file(entry.path())});
  std::sort(corpus.headers.begin(), corpus.headers.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return corpus;
}

}  // namespace gauntlet
