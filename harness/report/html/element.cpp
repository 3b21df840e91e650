// SPDX-License-Identifier: Apache-2.0
#include "harness/report/html/element.h"

#include <sstream>

#include "harness/core/text.h"

namespace gauntlet::html {

void add_text(pugi::xml_node parent, std::string_view text) {
  parent.append_child(pugi::node_pcdata).set_value(printable(text).c_str());
}

pugi::xml_node add_void(pugi::xml_node parent, const char* name, Attributes attributes) {
  auto node = parent.append_child(name);
  for (const auto& [key, value] : attributes) node.append_attribute(key) = printable(value).c_str();
  return node;
}

pugi::xml_node add(pugi::xml_node parent, const char* name, std::string_view text,
                   Attributes attributes) {
  auto node = add_void(parent, name, attributes);
  add_text(node, text);  // even "": browsers take <td/> for an element that is never closed
  return node;
}

std::string markup(const pugi::xml_document& document) {
  std::ostringstream out;
  for (const auto& child : document.children()) {
    child.print(out, "", pugi::format_raw);
    out << '\n';
  }
  return out.str();
}

}  // namespace gauntlet::html
