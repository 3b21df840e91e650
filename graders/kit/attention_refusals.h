// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "graders/kit/attention_domain.h"
#include "graders/kit/refusals.h"

/// What attention contracts refuse alike.
namespace gauntlet::kit {

/// Puts something wrong into the lists of a problem.
using Misplace = std::function<void(AttentionProblem&)>;

struct ListFlaw {
  std::string name;
  Misplace misplace;
};

/// Starts and lengths that do not fit the keys, in the first, a middle or the last entry.
std::vector<ListFlaw> list_flaws();

/// Lists are all that is wrong, and not in whether they are given: the struct is that of the call
/// without the flaw, which a solution that has answered it may know. False for no Misplace.
bool keeps_struct(const AttentionProblem& form, const Misplace& misplace);

/// One thing wrong with a call, and what is to be said of it.
template <class Args>
struct InvalidAttention {
  Flaw<Args> flaw;
  std::function<bool(const Assignment&)> beside = [](const Assignment&) { return true; };
  bool unsupported = false;  // else a bad argument
  Misplace misplace = {};
};

template <class Args>
class InvalidAttentions {
 public:
  using Field = std::int64_t Args::*;
  struct NamedField {
    const char* name;
    Field field;
  };

  std::vector<InvalidAttention<Args>> all;

  /// What follows from the fields that all attention contracts have, and from these strides.
  explicit InvalidAttentions(const std::vector<NamedField>& strides) {
    add_sizes();
    for (const auto& [name, field] : strides)
      add_values(name, field, {std::int64_t{-1}, 512 - kNarrowed});
    for (const ListFlaw& flaw : list_flaws())
      all.push_back({{flaw.name}, has_batch, false, flaw.misplace});
    add_values("threads", &Args::num_threads,
               {0, -1, std::numeric_limits<std::int32_t>::min(), 1 - kNarrowed16});
    add_values("window_left", &Args::window_left, {std::int64_t{-2}, -kNarrowed, kLeast});
    add_values("window_right", &Args::window_right, {std::int64_t{-2}, -kNarrowed, kLeast});
    add_values("scale", &Args::scale, {kNan, kInfinity, -kInfinity});
    add_values("softcap", &Args::softcap, {kNan, kInfinity, -kInfinity, -1.0f, -1e-45f});
    add_values("abi", &Args::abi_version, {0, 2, -1, 257, 1 + kNarrowed16}, true);
    add_values("device", &Args::device, {kCuda, 2, -1, 256, kNarrowed16}, true);
    add_values("data type", &Args::data_type, {3, -1, 256, kNarrowed16}, true);
  }

  template <class Number, class Member>
  void add_values(const char* argument, Member Args::*field, std::initializer_list<Number> values,
                  bool unsupported = false) {
    for (const Number value : values)
      all.push_back({.flaw = {fmt::format("{} {}", argument, value),
                              [=](Args& a) { a.*field = static_cast<Member>(value); }},
                     .unsupported = unsupported});
  }

  /// These arrays are null where `needed` says that they must not be.
  void add_missing(std::initializer_list<const char*> arrays, bool (*needed)(const Assignment&)) {
    for (const char* array : arrays)
      all.push_back({{.name = fmt::format("no {}", array), .missing = array}, needed});
  }

  /// These arrays and the lists lie on a device: no process of the host can read there.
  template <class... Arrays>
  void add_all_on_device(Arrays Args::*... arrays) {
    const auto put = [=](Args& a) {
      auto* const there = reinterpret_cast<float*>(std::uintptr_t{4096});  // nobody maps that
      a.device = kCuda;
      ((a.*arrays = there), ...);
      a.kv_start = a.kv_len = reinterpret_cast<const std::int32_t*>(there);
    };
    all.push_back({.flaw = {"all of it on a device", put}, .unsupported = true});
  }

 private:
  static constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int32_t kCuda = 1;                          // in every attention contract
  static constexpr std::int64_t kNarrowed = std::int64_t{1} << 32;  // gone where 32 bits are kept

  void add_sizes() {
    const NamedField sizes[] = {{"batch", &Args::batch},        {"q_heads", &Args::q_heads},
                                {"kv_heads", &Args::kv_heads},  {"q_len", &Args::q_len},
                                {"k_len", &Args::k_len},        {"head_dim", &Args::head_dim},
                                {"value_dim", &Args::value_dim}};
    for (const NamedField& size : sizes) {
      add_values(size.name, size.field, {std::int64_t{-1}, kLeast});
      all.push_back({{fmt::format("{} - 2^32", size.name),
                      [field = size.field](Args& a) { a.*field -= kNarrowed; }}});
    }
    add_values("head_dim", &Args::head_dim, {0});
    add_values("value_dim", &Args::value_dim, {0});
    all.push_back({{"kv_heads 0", [](Args& a) { a.kv_heads = 0; }}, has_heads});
    all.push_back(
        {{"kv_heads q_heads + 1", [](Args& a) { a.kv_heads = a.q_heads + 1; }}, has_heads});
    all.push_back({{"kv_heads 2^32 more", [](Args& a) { a.kv_heads += kNarrowed; }}, has_heads});
    all.push_back({{"q_heads + 1", [](Args& a) { ++a.q_heads; }},
                   [](const Assignment& choice) { return choice["kv heads"].least > 1; }});
  }
};

}  // namespace gauntlet::kit
