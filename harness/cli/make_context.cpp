// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/make_context.h"

#include <fmt/format.h>

#include "harness/cli/installation.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

Seed parse_seed(const std::string& word) {
  if (const auto seed = Seed::parse(word)) return *seed;
  throw UserError(fmt::format(
      "--seed {}: must be a number, 12345 or 0x3039 (hexadecimal: up to 64 digits, as printed)",
      printable(word, 80)));
}

ColorChoice parse_color(const std::string& word) {
  if (word == "auto") return ColorChoice::automatic;
  if (word == "always") return ColorChoice::always;
  if (word == "never") return ColorChoice::never;
  throw UserError(fmt::format("--color {}: must be auto, always or never", printable(word, 40)));
}

/// --root names a checkout, which is all of it.
void place(Context& context, const Program& program, const CommandLineOptions& o) {
  GradingEnvironment& environment = context.environment;
  const std::string data = program.environment("GAUNTLET_DATA_DIR");
  environment.root = program.root;
  if (!data.empty()) environment.root = fs::absolute(data);
  if (!o.root.empty()) environment.root = fs::absolute(o.root);
  context.installed = program.installed;
  const bool in_checkout = !program.installed || !o.root.empty();
  const fs::path checkout = o.root.empty() ? program.root : environment.root;
  context.workspace = in_checkout ? checkout : workspace_at(fs::current_path());
  environment.cache = in_checkout ? checkout / "build" / "cache"
                                  : user_cache(program.environment, context.workspace);
  context.results = o.results.empty() ? context.workspace / "results" : fs::path(o.results);
}

}  // namespace

Context make_context(const Program& program, const CommandLineOptions& o) {
  Context context;
  place(context, program, o);
  context.environment.worker = program.folder / "gauntlet-worker";
  context.environment.version = program.version;
  context.environment.race_patience = std::chrono::seconds(o.patience);
  if (!o.seed.empty()) context.seed = parse_seed(o.seed);
  context.jobs = o.jobs;
  context.json = o.json;
  context.quiet = o.quiet;
  context.live = redraws(program.environment, program.err_is_terminal);
  context.style = style_for(parse_color(o.color), program.environment, program.out_is_terminal);
  context.err = &program.err;
  return context;
}

}  // namespace gauntlet
