// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "harness/report/model/aggregate.h"

namespace gauntlet {

namespace html {

// page.js and page.css, the page's only script and its style, which the build embeds. The page
// admits no other script: see script_source().
extern const std::string_view page_js;
extern const std::string_view page_css;

/// What a content security policy calls a script of exactly these bytes: 'sha256-...'.
std::string script_source(std::string_view script);

}  // namespace html

/// The whole report as one page that works from disk: a matrix to sort and to filter, and behind
/// each of its cells the findings. It asks for no other file, and without its script it only cannot
/// sort and filter.
std::string render_html(const Aggregate& aggregate);

}  // namespace gauntlet
