// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <doctest/doctest.h>

#include "judge.h"
#include "operations.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

/// Two sequences that share a page, and one free page of three.
State shared_state() {
  Setup setup{.page_tokens = 4, .pages = 3, .sequences = 2, .width = 2};
  State state(setup, 64);
  state.lengths = {6, 3};
  state.refs = {2, 0, 1};
  state.table = {0, 2, 0, -1};
  for (std::int64_t p = 0; p < 3; ++p)
    std::ranges::fill(state.page(p), static_cast<std::uint8_t>(10 + p));
  return state;
}

Operation operation(Operation::Kind kind, std::int64_t a, std::int64_t tokens) {
  Operation made;
  made.kind = kind;
  made.a = a;
  made.tokens = tokens;
  return made;
}

}  // namespace

TEST_CASE("which keys a query sees") {
  Problem problem;
  problem.which = {0, 1};
  problem.queries = {3, 2};
  const auto sees = [&](std::size_t entry, std::int64_t query, std::int64_t length) {
    const kit::KeyRange seen = visible_keys(problem, entry, query, length);
    return std::pair{seen.first, seen.last};
  };
  CHECK(sees(0, 0, 5) == std::pair<std::int64_t, std::int64_t>{0, 3});
  CHECK(sees(0, 2, 5) == std::pair<std::int64_t, std::int64_t>{0, 5});
  CHECK(sees(1, 0, 1) == std::pair<std::int64_t, std::int64_t>{0, 0});
  problem.window = 1;
  CHECK(sees(0, 2, 5) == std::pair<std::int64_t, std::int64_t>{3, 5});
  problem.key_begin = {0, 0};
  problem.key_end = {4, 0};
  CHECK(sees(0, 2, 5) == std::pair<std::int64_t, std::int64_t>{3, 4});
  CHECK(sees(1, 1, 1).first == sees(1, 1, 1).second);
}

TEST_CASE("page budgets by hand") {
  Setup setup{
      .stored = KV_F32, .heads = 2, .key_dim = 46, .value_dim = 7, .page_tokens = 5, .group = 16};
  CHECK(page_budget(setup) == 2176);  // 10 * 212, rounded up
  setup.stored = KV_INT8;
  CHECK(page_budget(setup) == 704);  // 10 * (46 + 3 * 4 + 7 + 4) = 690
  setup.stored = KV_INT4;
  CHECK(page_budget(setup) == 640);  // 10 * (23 + 3 * 8 + 4 + 8) = 590
}

TEST_CASE("a page that the tokens do not fit into is refused, and one that they do is not") {
  Setup setup{.heads = 1};
  setup.key_dim = setup.value_dim = 40;
  setup.page_tokens = 4;  // 320 numbers
  const auto fault = [&](KvStored stored, std::int64_t bytes) {
    setup.stored = stored;
    return page_bytes_fault(setup, bytes).has_value();
  };
  CHECK_FALSE(fault(KV_F32, 1280));
  CHECK(fault(KV_F32, 1271));
  CHECK(fault(KV_F32, 1281));
  CHECK_FALSE(fault(KV_INT8, 320));
  CHECK(fault(KV_INT8, 315));
  CHECK_FALSE(fault(KV_INT4, 160));
  CHECK(fault(KV_INT4, 155));
  CHECK(fault(KV_INT4, KV_UNSUPPORTED));
}

TEST_CASE("what is stored as float is the same bit for bit, zeros included") {
  const Setup setup{.heads = 1, .key_dim = 2, .value_dim = 1};
  const Tokens given{{0.0f, 1e-40f}, {-0.0f}};
  CHECK_FALSE(stored_miss(setup, 0, 0, given, given));
  CHECK(stored_miss(setup, 0, 0, {{-0.0f, 1e-40f}, {-0.0f}}, given)->where ==
        "key[0] of head 0 of token 0 of sequence 0");
  CHECK(stored_miss(setup, 0, 0, {{0.0f, 0.0f}, {-0.0f}}, given));
  CHECK(stored_miss(setup, 0, 0, {{0.0f, 1e-40f}, {0.0f}}, given));
}

TEST_CASE("a NaN may spoil its group, or its number, and nothing else") {
  Setup setup{.stored = KV_INT8, .heads = 1, .key_dim = 4, .value_dim = 1, .group = 2};
  const Tokens given{{1, 2, kit::kNan, 4}, {1}};
  CHECK_FALSE(stored_miss(setup, 0, 0, {{1, 2, 77, kit::kInfinity}, {1}}, given));
  CHECK(stored_miss(setup, 0, 0, {{1, kit::kNan, 0, 0}, {1}}, given));
  setup.stored = KV_F32;
  CHECK_FALSE(stored_miss(setup, 0, 0, {{1, 2, 77, 4}, {1}}, given));
  CHECK(stored_miss(setup, 0, 0, {{1, 2, kit::kNan, 5}, {1}}, given));
}

TEST_CASE("a pool whose pages are far apart holds those and no others") {
  Setup setup{.pages = 15, .sequences = 1};
  setup.far_pages = 7;
  State state(setup, 64);
  CHECK(state.pool.size() == 3 * 64);
  CHECK(state.stride() == 7 * 64);
  CHECK(state.page(1).empty());
  CHECK(state.page(14).data() == &state.pool[std::size_t{2} * 64]);
  REQUIRE(state.parts().size() == 3);
  CHECK(state.parts()[1].data() == state.page(7).data());
}

TEST_CASE("poison spares what is in use") {
  Rng rng(5);
  for (int turn = 0; turn < 20; ++turn) {
    State state = shared_state();
    state.poison_unused(rng);
    CHECK(state.page(0)[0] == 10);
    CHECK(state.page(2)[63] == 12);
    CHECK(state.page(1)[8] != 11);
    CHECK(state.table[0] == 0);
    CHECK(state.table[1] == 2);
    CHECK(state.table[2] == 0);
  }
}

TEST_CASE("pages with other numbers hold the same") {
  Rng rng(6);
  for (int turn = 0; turn < 20; ++turn) {
    State state = shared_state();
    state.renumber_pages(rng);
    CHECK(state.page(state.entry(0, 0))[0] == 10);
    CHECK(state.page(state.entry(0, 1))[0] == 12);
    CHECK(state.entry(1, 0) == state.entry(0, 0));
    CHECK(state.refs[static_cast<std::size_t>(state.entry(0, 0))] == 2);
    CHECK(state.refs[static_cast<std::size_t>(state.entry(0, 1))] == 1);
    CHECK(std::ranges::count(state.refs, 0) == 1);
  }
}

TEST_CASE("a failing life is cut down to what fails") {
  Rng rng(7);
  Setup setup;
  std::vector<Operation> life = draw_operations(rng, setup, 40);
  life[11] = operation(Operation::fork, 1, 0);
  life[29] = operation(Operation::truncate, 2, 9);
  // Fails when a truncation of 5 or more comes after a fork.
  const auto fails = [](const std::vector<Operation>& operations) {
    const auto is_fork = [](const Operation& op) { return op.kind == Operation::fork; };
    const auto fork = std::ranges::find_if(operations, is_fork);
    return std::any_of(fork, operations.end(), [](const Operation& op) {
      return op.kind == Operation::truncate && op.tokens >= 5;
    });
  };
  REQUIRE(fails(life));
  const auto shortest = shrink(life, fails, 500);
  REQUIRE(shortest.size() == 2);
  CHECK(shortest[0].kind == Operation::fork);
  CHECK(shortest[1].kind == Operation::truncate);
  CHECK(shortest[1].tokens == 5);
}

TEST_CASE("shrinking stops with its budget, at something that fails") {
  Rng rng(8);
  const std::vector<Operation> life = draw_operations(rng, Setup(), 30);
  int tries = 0;
  const auto fails = [&](const std::vector<Operation>& operations) {
    ++tries;
    return operations.size() > 3;
  };
  CHECK(shrink(life, fails, 7).size() > 3);
  CHECK(tries == 7);
}
