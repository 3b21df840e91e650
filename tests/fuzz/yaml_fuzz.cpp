// SPDX-License-Identifier: Apache-2.0
// challenge.yaml, model.yaml, claims.yaml, mutants.yaml, judged grades: whatever stands in them,
// there is an answer or a UserError.
#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/core/error.h"
#include "harness/core/stated_claim.h"
#include "harness/core/yaml.h"
#include "harness/store/judgement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    gauntlet::stated_claims_from_yaml(text, "fuzzed.yaml");
  } catch (const gauntlet::UserError&) {
  }
  try {
    gauntlet::judgement_from_yaml(text, "fuzzed.yaml");
  } catch (const gauntlet::UserError&) {
  }
  try {
    gauntlet::YamlFields fields = gauntlet::YamlFields::of_text(text, "fuzzed.yaml");
    for (const std::string& key : fields.keys()) try {
        fields.text(key);
        fields.number(key);
        fields.integer(key);
      } catch (const gauntlet::UserError&) {
      }
    for (const char* key : {"a", "b"}) try {
        for (gauntlet::YamlFields& entry : fields.list(key)) entry.texts("c");
      } catch (const gauntlet::UserError&) {
      }
    fields.refuse_unknown();
  } catch (const gauntlet::UserError&) {
  }
  return 0;
}
