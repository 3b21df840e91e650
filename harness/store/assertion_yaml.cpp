// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/store/judgement_names.h"

namespace gauntlet {
namespace {

using Names = const JudgementNames&;
using In = YamlFields&;

std::string letter(In in) {
  return require_letter(in, "letter", in.text("letter"));
}

std::vector<std::string> letters(In in, std::size_t least) {
  const auto values = in.texts("letters");
  if (values.size() < least || values.size() > 2)
    in.refuse("letters", least == 2 ? "must be two letters" : "must be one or two letters");
  for (const auto& value : values) require_letter(in, "letters", value);
  return values;
}

Assertion record(Names names, In in) {
  stated::Record record{names.two_models(in), in.text("verb"), in.numbers("figures")};
  const std::vector<std::string> verbs{"leads", "trails", "is level with"};
  if (std::find(verbs.begin(), verbs.end(), record.verb) == verbs.end())
    in.refuse("verb", "must be one of: " + sentence_list(verbs));
  if (record.figures.size() != 2 && record.figures.size() != 3)
    in.refuse("figures", "must be won, lost and tied of the first model, or the points of both");
  return record;
}

struct Kind {
  std::string key;
  Assertion (*read)(Names names, In in);
};

const std::vector<Kind>& kinds() {
  namespace s = stated;
  using A = Assertion;
  static const std::vector<Kind> kKinds{
      {"took_part",
       [](Names n, In in) -> A {
         return s::TookPart{n.model(in), read_count(in, "challenges")};
       }},
      {"only_complete", [](Names n, In in) -> A { return s::OnlyComplete{n.model(in)}; }},
      {"shared",
       [](Names n, In in) -> A {
         return s::Shared{n.two_models(in), read_count(in, "challenges")};
       }},
      {"record", record},
      {"rank",
       [](Names n, In in) -> A {
         return s::Rank{n.model(in), read_count(in, "place")};
       }},
      {"mean",
       [](Names n, In in) -> A {
         return s::Mean{n.model(in), letters(in, 1)};
       }},
      {"round",
       [](Names n, In in) -> A {
         return s::Round{n.model(in), read_count(in, "round"), letter(in), read_count(in, "place")};
       }},
      {"place",
       [](Names n, In in) -> A {
         return s::PlaceIn{n.model(in), n.challenge(in), read_count(in, "place")};
       }},
      {"grade",
       [](Names n, In in) -> A {
         return s::GradeIn{n.model(in), n.challenge(in), letter(in)};
       }},
      {"never_declines", [](Names n, In in) -> A { return s::NeverDeclines{n.model(in)}; }},
      {"range",
       [](Names n, In in) -> A {
         return s::Range{n.model(in), letters(in, 2)};
       }},
      {"narrowest_range", [](Names n, In in) -> A { return s::NarrowestRange{n.model(in)}; }},
      {"wins",
       [](Names n, In in) -> A {
         return s::Wins{n.two_models(in), n.challenge_list(in)};
       }},
      {"count",
       [](Names, In in) -> A {
         return s::Count{read_count(in, "number"), in.texts("items")};
       }},
      {"critical",
       [](Names n, In in) -> A {
         return s::Critical{n.model(in), n.challenge(in)};
       }},
  };
  return kKinds;
}

std::string known_kinds() {
  std::vector<std::string> keys;
  for (const auto& kind : kinds()) keys.push_back(kind.key);
  return sentence_list(keys);
}

}  // namespace

Assertion read_assertion(YamlFields& statement, const JudgementNames& names) {
  const Kind* chosen = nullptr;
  for (const auto& kind : kinds()) {
    if (!statement.has(kind.key)) continue;
    if (chosen != nullptr) statement.refuse(kind.key, "a statement asserts one thing; split it");
    chosen = &kind;
  }
  statement.refuse_unknown();
  if (chosen == nullptr) statement.refuse("says", "asserts nothing; add one of " + known_kinds());
  YamlFields operands = statement.fields(chosen->key);
  Assertion read = chosen->read(names, operands);
  operands.refuse_unknown();
  return read;
}

}  // namespace gauntlet
