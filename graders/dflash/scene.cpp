#include "scene.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

Draft draft_of(const Scene& scene, std::size_t r, std::int64_t known, State text,
               std::int32_t root_token) {
  Draft draft;
  draft.tree = scene.drafter(r, known, text).cropped(scene.budget);
  draft.root_token = root_token;
  draft.root = text;
  draft.context_length = known - 1;
  draft.max_emit = scene.prompts[r].max_new - (known - std::ssize(scene.prompts[r].tokens));
  return draft;
}

Plan plan_of(const Scene& scene, std::size_t r) {
  const Language& language = *scene.language;
  const Prompt& prompt = scene.prompts[r];
  State text = language.read(prompt.tokens);
  std::int32_t last = prompt.tokens.back();
  Plan plan;
  while (std::ssize(plan.emit) < prompt.max_new && !(plan.rounds > 0 && language.is_eos(last))) {
    const std::int64_t known = std::ssize(prompt.tokens) + std::ssize(plan.emit);
    const Draft draft = draft_of(scene, r, known, text, last);
    const Walk walk = greedy(language, draft);
    for (const std::int32_t token : walk.emit) text = language.extend(text, token);
    last = walk.emit.back();
    plan.emit.insert(plan.emit.end(), walk.emit.begin(), walk.emit.end());
    ++plan.rounds;
    plan.rows += draft.tree.rows();
    plan.accepted += std::ssize(walk.path);
  }
  return plan;
}

Draft draft_at(const Scene& scene, std::size_t r, std::int64_t known) {
  auto tokens = scene.prompts[r].tokens;
  const auto more =
      scene.language->decode(scene.language->read(tokens), known - std::ssize(tokens));
  tokens.insert(tokens.end(), more.begin(), more.end());
  return draft_of(scene, r, known, scene.language->read(tokens), tokens.back());
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
