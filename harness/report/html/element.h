// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace gauntlet::html {

using Attributes = std::initializer_list<std::pair<const char*, std::string_view>>;

/// Text from anywhere as text of `parent`.
void add_text(pugi::xml_node parent, std::string_view text);

/// An element with text from anywhere in it and in its attributes; "" leaves it open for others.
pugi::xml_node add(pugi::xml_node parent, const char* name, std::string_view text = "",
                   Attributes attributes = {});

/// An element that never has content: <meta>.
pugi::xml_node add_void(pugi::xml_node parent, const char* name, Attributes attributes);

/// What stands in a document, a line for each of its outermost elements.
std::string markup(const pugi::xml_document& document);

}  // namespace gauntlet::html
