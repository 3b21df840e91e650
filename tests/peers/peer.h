// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gauntlet::peers {

/// One size that a peer asks, as fractions of what a question takes for typical.
struct Shape {
  double rows = 1;           // rows, or heads
  double length = 1;         // columns, entries of a vocabulary, queries and keys
  std::int64_t plus = 0;     // added to that length: 1023 and 1025 are no fractions of 128
  double k = 1;              // winners
  std::int64_t group = 1;    // query heads that share a key head
  bool causal = false;       // attention under the diagonal
  bool random_gains = true;  // the layer norm's gamma and beta; else ones and zeros
};

/// Inputs by a factor, with a tolerance of their own.
struct Regime {
  double factor = 1;
  double attention_factor = 1;  // of queries, keys and values
  double atol = 0;
  double rtol = 0;
};

/// Where some of a protocol's numbers are read. One without a repository says why a number is ours.
struct Source {
  std::vector<std::string> of;  // names of fields of the protocol's file
  std::string says;
  std::string repository, commit, file;
};

/// How a public grader decides that a kernel is right: tests/peers/*.yaml.
struct Peer {
  enum class Numbers { uniform, normal };  // of [0, 1), or with mean 0 and deviation 1
  enum class Rule {
    both_in_one,  // off by more than atol + rtol * |want|
    either,       // off by more than atol and by more than rtol * (|want| + 1e-8)
  };
  enum class Indices { as_numbers, gathered };  // gathered: by the logits that they name

  std::string name;
  int trials = 1;  // with inputs of their own, for each shape and regime
  int calls = 1;   // with the same inputs, each of which is compared
  Numbers numbers = Numbers::normal;
  std::vector<Shape> shapes;
  std::vector<Regime> regimes;  // atol and rtol first, then `stress`
  Rule rule = Rule::both_in_one;
  double matched = 1;           // share of the elements that must not be off
  bool refuses_special = true;  // NaN and infinities, whatever the rule says of them
  bool refuses_zeros = false;   // nothing but zeros where something else is wanted
  Indices indices = Indices::as_numbers;
  std::vector<Source> sources;
};

/// Throws UserError with file, line and key; also for a number that no source covers.
Peer read_peer(const std::filesystem::path& file);
Peer read_peer_text(const std::string& text, const std::string& shown_name);

/// All of a folder, in the order of their file names.
std::vector<Peer> read_peers(const std::filesystem::path& folder);

}  // namespace gauntlet::peers
