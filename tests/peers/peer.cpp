// SPDX-License-Identifier: Apache-2.0
#include "tests/peers/peer.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace gauntlet::peers {
namespace {

template <class Choice>
Choice choice(YamlFields& fields, const std::string& key,
              const std::map<std::string, Choice>& known) {
  const auto found = known.find(fields.text(key));
  if (found == known.end()) fields.refuse(key, "is none of the words that are known here");
  return found->second;
}

Shape read_shape(YamlFields fields) {
  Shape shape;
  const auto number = [&](const char* key, double& value) {
    if (fields.has(key)) value = fields.number(key);
    if (value <= 0) fields.refuse(key, "must be above 0");
  };
  number("rows", shape.rows);
  number("length", shape.length);
  number("k", shape.k);
  if (fields.has("plus")) shape.plus = fields.integer("plus");
  if (fields.has("group")) shape.group = fields.integer("group");
  if (fields.has("causal")) shape.causal = fields.truth("causal");
  if (fields.has("random_gains")) shape.random_gains = fields.truth("random_gains");
  fields.refuse_unknown();
  return shape;
}

Regime read_regime(YamlFields fields) {
  Regime regime{fields.number("factor"), fields.number("attention_factor"), fields.number("atol"),
                fields.number("rtol")};
  fields.refuse_unknown();
  return regime;
}

Source read_source(YamlFields fields) {
  Source source;
  source.of = fields.texts("of");
  source.says = fields.text("says");
  if (fields.has("repository")) {
    source.repository = fields.text("repository");
    source.commit = fields.text("commit");
    source.file = fields.text("file");
    if (source.commit.size() != 40) fields.refuse("commit", "must have 40 digits");
  }
  fields.refuse_unknown();
  return source;
}

/// What a protocol says has to be found somewhere, number by number.
void require_sources(const YamlFields& fields, const Peer& peer) {
  std::vector<std::string> numbers = fields.keys();
  std::erase_if(numbers, [](const auto& key) { return key == "name" || key == "sources"; });
  for (const std::string& number : numbers)
    if (std::ranges::none_of(peer.sources,
                             [&](const Source& source) { return contains(source.of, number); }))
      fields.refuse(number, "has no source");
  for (const Source& source : peer.sources)
    for (const std::string& number : source.of)
      if (!contains(numbers, number))
        fields.refuse("sources", fmt::format("'{}' is no field of this file", number));
  if (std::ranges::all_of(peer.sources, [](const Source& one) { return one.repository.empty(); }))
    fields.refuse("sources", "name no repository");
}

Peer read(YamlFields fields) {
  Peer peer;
  peer.name = fields.text("name");
  peer.trials = static_cast<int>(fields.integer("trials"));
  peer.calls = static_cast<int>(fields.integer("calls"));
  peer.numbers = choice<Peer::Numbers>(
      fields, "numbers", {{"uniform", Peer::Numbers::uniform}, {"normal", Peer::Numbers::normal}});
  for (YamlFields& shape : fields.list("shapes")) peer.shapes.push_back(read_shape(shape));
  peer.regimes.push_back({1, 1, fields.number("atol"), fields.number("rtol")});
  if (fields.has("stress"))
    for (YamlFields& regime : fields.list("stress")) peer.regimes.push_back(read_regime(regime));
  peer.rule = choice<Peer::Rule>(
      fields, "rule", {{"both_in_one", Peer::Rule::both_in_one}, {"either", Peer::Rule::either}});
  peer.matched = fields.number("matched");
  peer.refuses_special = fields.truth("refuses_special");
  peer.refuses_zeros = fields.truth("refuses_zeros");
  peer.indices = choice<Peer::Indices>(
      fields, "indices",
      {{"as_numbers", Peer::Indices::as_numbers}, {"gathered", Peer::Indices::gathered}});
  for (YamlFields& source : fields.list("sources")) peer.sources.push_back(read_source(source));
  fields.refuse_unknown();
  if (peer.trials < 1 || peer.calls < 1 || peer.shapes.empty())
    fields.refuse("trials", "nothing is asked");
  require_sources(fields, peer);
  return peer;
}

}  // namespace

Peer read_peer(const std::filesystem::path& file) {
  return read(YamlFields::of_file(file));
}

Peer read_peer_text(const std::string& text, const std::string& shown_name) {
  return read(YamlFields::of_text(text, shown_name));
}

std::vector<Peer> read_peers(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Peer> peers;
  for (const auto& file : files) peers.push_back(read_peer(file));
  return peers;
}

}  // namespace gauntlet::peers
