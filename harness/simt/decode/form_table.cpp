// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/decode/form_table.h"

#include <array>
#include <stdexcept>

#include "harness/simt/execute/forms.h"
#include "harness/simt/lanes/lanes.h"

namespace gauntlet::simt {
namespace {

FormTable make_table(VectorUnit unit) {
  FormTable table;
  switch (unit) {
    case VectorUnit::baseline:
      lanes_baseline::add_forms(table);
      break;
    case VectorUnit::avx2:
      lanes_avx2::add_forms(table);
      break;
  }
  add_memory_forms(table);
  add_atomic_forms(table);
  add_exchange_forms(table);
  add_control_forms(table);
  return table;
}

}  // namespace

void add_lane_form(FormTable& table, const char* pattern, const char* operands, Run run,
                   Class kind) {
  table.add(pattern, {operands, run, kind});
}

std::vector<std::string> spellings(std::string_view pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) return {std::string(pattern)};
  const std::size_t close = pattern.find('}', open);
  const std::string_view head = pattern.substr(0, open);
  const std::vector<std::string> tails = spellings(pattern.substr(close + 1));
  std::vector<std::string> made;
  for (std::size_t at = open + 1; at <= close;) {
    const std::size_t end = std::min(pattern.find(',', at), close);
    for (const std::string& tail : tails)
      made.push_back(std::string(head) + std::string(pattern.substr(at, end - at)) + tail);
    at = end + 1;
  }
  return made;
}

void FormTable::add(std::string_view pattern, const Form& form) {
  for (const std::string& spelling : spellings(pattern)) {
    std::vector<Form>& known = forms_[spelling];
    for (const Form& other : known)
      if (other.operands == form.operands)
        throw std::logic_error(spelling + " " + form.operands + " is in the table twice");
    known.push_back(form);
  }
}

const std::vector<Form>& FormTable::find(std::string_view opcode) const {
  static const std::vector<Form> kNone;
  const auto found = forms_.find(opcode);
  return found == forms_.end() ? kNone : found->second;
}

VectorUnit best_vector_unit() {
  const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return wide ? VectorUnit::avx2 : VectorUnit::baseline;
}

const FormTable& form_table(VectorUnit unit) {
  if (unit == VectorUnit::avx2) {
    static const FormTable kTable = make_table(VectorUnit::avx2);
    return kTable;
  }
  static const FormTable kTable = make_table(VectorUnit::baseline);
  return kTable;
}

const FormTable& form_table() {
  static const VectorUnit kUnit = best_vector_unit();
  return form_table(kUnit);
}

}  // namespace gauntlet::simt
