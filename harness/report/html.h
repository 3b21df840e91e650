#pragma once

#include <string>
#include <string_view>

#include "harness/report/aggregate.h"

namespace gauntlet {

namespace html {

/// Text from anywhere as text, in an element or between the quotes of an attribute.
std::string text(std::string_view text);

/// The page's only script and its style. The page admits no other script: see script_source().
extern const std::string_view kScript;
extern const std::string_view kStyle;

/// What a content security policy calls a script of exactly these bytes: 'sha256-...'.
std::string script_source(std::string_view script);

}  // namespace html

/// The whole report as one page that works from disk: a matrix to sort and to filter, and behind
/// each of its cells the findings. It asks for no other file, and without its script it only cannot
/// sort and filter.
std::string render_html(const Aggregate& aggregate);

}  // namespace gauntlet
