#include "language.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>

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

void throw_dice(const Dice& dice, std::uint64_t path, std::span<float> row) {
  const auto levels = static_cast<std::uint64_t>(dice.levels);
  std::uint64_t state = mixed(dice.seed, path);
  const auto slump = static_cast<std::uint64_t>(dice.slump) + 1;
  const auto lower = static_cast<std::int64_t>(mixed(state, slump) % slump);
  const auto forbidden_below = static_cast<std::uint64_t>(dice.forbidden * 65536);
  for (float& value : row) {
    state = mixed(state, 1);
    const auto units = static_cast<std::int64_t>((state >> 20) % levels) + lower;
    const bool forbidden = (state & 0xffff) < forbidden_below;
    value = forbidden ? kForbidden : -dice.unit * static_cast<float>(units);
  }
}

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

std::uint64_t path_of(std::span<const std::int32_t> tokens) {
  Context context = root_of(0);
  for (const std::int32_t token : tokens) context = context.extended(token);
  return context.path;
}

Dice draw_dice(Rng& rng) {
  constexpr std::array<float, 6> kUnits{1.0F / 1024, 1.0F / 1024, 1.0F / 64, 1.0F / 8, 0.5F, 1};
  Dice dice;
  dice.seed = rng();
  dice.unit = kUnits[static_cast<std::size_t>(rng.integer(0, 5))];
  dice.levels = std::max<std::int64_t>(3, static_cast<std::int64_t>(rng.uniform(2, 8) / dice.unit));
  dice.eos_favour = static_cast<int>(rng.integer(1, 4));
  dice.forbidden = rng.chance(0.3) ? rng.uniform(0, 0.5) : 0;
  dice.slump = rng.chance(0.3) ? dice.levels / 3 : 0;
  return dice;
}

Language dice_language(std::vector<Dice> dice, std::vector<std::int32_t> eos) {
  return [dice = std::move(dice), eos = std::move(eos)](const Context& at, std::span<float> row) {
    const Dice& own = dice.at(static_cast<std::size_t>(at.item));
    throw_dice(own, at.path, row);
    for (const std::int32_t token : eos) {
      float& value = row[static_cast<std::size_t>(token)];
      if (value == kForbidden) continue;
      const auto units = static_cast<std::int64_t>(value / own.unit);
      value = own.unit * static_cast<float>(units / own.eos_favour);
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

Language strip_language(Rng& rng, std::int64_t vocab) {
  constexpr std::int64_t kSlack = 1 << 16;
  const std::uint64_t seed = rng();
  auto strip = std::make_shared<std::vector<float>>(static_cast<std::size_t>(vocab + kSlack));
  std::uint64_t state = rng();
  for (float& value : *strip) {
    state = mixed(state, 1);
    value = -static_cast<float>((state >> 20) % (1 << 20)) / 65536;
  }
  return [strip, seed](const Context& at, std::span<float> row) {
    const std::uint64_t own = mixed(mixed(seed, at.path), static_cast<std::uint64_t>(at.item));
    const auto from = strip->begin() + static_cast<std::ptrdiff_t>(own % kSlack);
    std::copy_n(from, row.size(), row.begin());
  };
}

Language table_language(const std::vector<Table>& tables) {
  auto known = std::make_shared<std::vector<CompiledTable>>();
  for (const Table& table : tables) known->push_back(compiled(table));
  return [known](const Context& at, std::span<float> row) {
    const CompiledTable& table = known->at(static_cast<std::size_t>(at.item));
    const auto found = table.rows.find(at.path);
    const std::vector<float>& values = found == table.rows.end() ? table.otherwise : found->second;
    if (values.size() != row.size()) throw Broken("a table's row is not as wide as its vocabulary");
    std::copy(values.begin(), values.end(), row.begin());
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
