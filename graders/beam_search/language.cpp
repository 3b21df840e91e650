// SPDX-License-Identifier: Apache-2.0
#include "language.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <unordered_map>
#include <utility>

#include "graders/kit/inputs.h"
#include "harness/core/error.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::uint64_t kEmptyPath = 0x5851f42d4c957f2d;

struct CompiledTable {
  std::unordered_map<std::uint64_t, std::vector<float>> rows;
  std::vector<float> otherwise;
};

CompiledTable compiled(const Table& table) {
  CompiledTable result{{}, table.otherwise};
  for (const auto& [tokens, row] : table.rows) result.rows[path_of(tokens)] = row;
  return result;
}

void draw_row(const RandomLanguage& own, const Context& at, std::span<float> row) {
  Rng rng = numbers_at(own.seed, {0, 0, at.path, -1});  // an item has a seed of its own
  const std::int64_t lower = rng.integer(0, own.slump);
  for (float& value : row) {
    const bool forbidden = rng.chance(own.forbidden);
    const std::int64_t units = rng.integer(0, own.levels - 1) + lower;
    value = forbidden ? kForbidden : -own.unit * static_cast<float>(units);
  }
}

/// Rows that were asked for, up to a limit: others are made once more when they are asked for
/// again.
class KnownRows {
 public:
  const std::vector<float>* find(std::uint64_t place) const {
    const auto found = rows_.find(place);
    return found == rows_.end() ? nullptr : &found->second;
  }
  void keep(std::uint64_t place, std::span<const float> row) {
    constexpr std::size_t kMostNumbers = 1 << 24;
    if (numbers_ + row.size() > kMostNumbers) return;
    numbers_ += row.size();
    rows_.emplace(place, std::vector<float>(row.begin(), row.end()));
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<float>> rows_;
  std::size_t numbers_ = 0;
};

}  // namespace

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15 + b + 0xd1b54a32d192ed03;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Context Context::extended(std::int32_t token) const {
  return {item, depth + 1, mixed(path, static_cast<std::uint64_t>(token)), token};
}

Context root_of(std::int64_t item) {
  return {item, 0, kEmptyPath, -1};
}

Rng numbers_at(const Seed& seed, const Context& at) {
  return Rng(derive(seed, fmt::format("{} {:x}", at.item, at.path)));
}

std::uint64_t path_of(std::span<const std::int32_t> tokens) {
  Context context = root_of(0);
  for (const std::int32_t token : tokens) context = context.extended(token);
  return context.path;
}

RandomLanguage draw_language(Rng& rng) {
  constexpr std::array<float, 6> kUnits{1.0F / 1024, 1.0F / 1024, 1.0F / 64, 1.0F / 8, 0.5F, 1};
  RandomLanguage drawn;
  drawn.seed = rng.seed();
  drawn.unit = kit::one_of(rng, kUnits);
  drawn.levels =
      std::max<std::int64_t>(3, static_cast<std::int64_t>(rng.uniform(2, 8) / drawn.unit));
  drawn.eos_favour = static_cast<int>(rng.integer(1, 4));
  drawn.forbidden = rng.chance(0.3) ? rng.uniform(0, 0.5) : 0;
  drawn.slump = rng.chance(0.3) ? drawn.levels / 3 : 0;
  return drawn;
}

RandomLanguage draw_uneven_language(Rng& rng) {
  RandomLanguage drawn = draw_language(rng);
  drawn.eos_favour = rng.chance(0.5) ? 40 : 1;
  return drawn;
}

Language random_language(std::vector<RandomLanguage> items, std::vector<std::int32_t> eos) {
  return [items = std::move(items), eos = std::move(eos)](const Context& at, std::span<float> row) {
    const RandomLanguage& own = items.at(static_cast<std::size_t>(at.item));
    draw_row(own, at, row);
    for (const std::int32_t token : eos) {
      float& value = row[static_cast<std::size_t>(token)];
      if (value == kForbidden) continue;
      const auto units = static_cast<std::int64_t>(value / own.unit);
      const std::int64_t favoured = units / own.eos_favour;  // whole units, so that sums stay exact
      value = own.unit * static_cast<float>(favoured);
    }
  };
}

Language far_down(Language language, float offset) {
  return [language = std::move(language), offset](const Context& at, std::span<float> row) {
    language(at, row);
    if (at.depth > 0) return;
    for (float& value : row) value = 2 * std::floor(value) - offset;
  };
}

Language lost_in_the_sum(Language language, Lost lost) {
  // Neighbours of float64 lie 64 apart from 2^58 on, and 2 apart from 2^53 on.
  const float unit = lost == Lost::all ? 0x1p58F : 0x1p53F;
  return [language = std::move(language), unit](const Context& at, std::span<float> row) {
    language(at, row);
    if (at.depth > 0) return;
    for (float& value : row) value = unit * (std::floor(value) - 1);
  };
}

Language mostly_lowest(Language language) {
  return [language = std::move(language)](const Context& at, std::span<float> row) {
    language(at, row);
    const std::uint64_t others = std::max<std::uint64_t>(4, row.size() / 2);
    for (std::size_t token = 0; token < row.size(); ++token)
      if (row[token] != kForbidden && mixed(at.path, token) % others != 0)
        row[token] = std::numeric_limits<float>::lowest();
  };
}

Language converging(Language language) {
  return [language = std::move(language)](const Context& at, std::span<float> row) {
    const auto depth = static_cast<std::uint64_t>(at.depth);
    language({at.item, at.depth, mixed(kEmptyPath, depth), -1}, row);
  };
}

Language forgetful(Language language) {
  return [language = std::move(language)](const Context& at, std::span<float> row) {
    if (at.depth == 0) return language(at, row);
    language(root_of(at.item).extended(at.last), row);
  };
}

Language large_language(Rng& rng) {
  const auto known = std::make_shared<KnownRows>();
  return [known, seed = rng.seed()](const Context& at, std::span<float> row) {
    const std::uint64_t place = mixed(at.path, static_cast<std::uint64_t>(at.item));
    if (const std::vector<float>* made = known->find(place)) {
      std::ranges::copy(*made, row.begin());
      return;
    }
    Rng own = numbers_at(seed, at);
    kit::fill_from<1>(own, row, [](const std::int32_t* word, std::size_t) {
      return -static_cast<float>(static_cast<std::uint32_t>(*word) >> 12) * 0x1p-16f;
    });
    known->keep(place, row);
  };
}

Language with_ids_ahead(Language language, std::vector<std::int32_t> eos) {
  return [language = std::move(language), eos = std::move(eos)](const Context& at,
                                                                std::span<float> row) {
    language(at, row);
    for (const std::int32_t id : eos) row[static_cast<std::size_t>(id)] /= 65536;
  };
}

Language table_language(const std::vector<Table>& tables) {
  auto known = std::make_shared<std::vector<CompiledTable>>();
  for (const Table& table : tables) known->push_back(compiled(table));
  return [known](const Context& at, std::span<float> row) {
    const CompiledTable& table = known->at(static_cast<std::size_t>(at.item));
    const auto found = table.rows.find(at.path);
    const std::vector<float>& values = found == table.rows.end() ? table.otherwise : found->second;
    if (values.size() != row.size())
      throw Broken(OwnFault::bug, "a table's row is not as wide as its vocabulary");
    std::copy(values.begin(), values.end(), row.begin());
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
