#include "harness/report/html.h"

#include <array>
#include <fmt/format.h>

#include "harness/core/digest.h"
#include "harness/core/text.h"

namespace gauntlet::html {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63u];
  }
  return text;
}

}  // namespace

std::string text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
      safe += fmt::format("&#{};", static_cast<int>(c));
    else
      safe += c;
  }
  return safe;
}

std::string script_source(std::string_view script) {
  return fmt::format("'sha256-{}'", base64(bytes_of(sha256(script))));
}

// Sorting and filtering the matrix. Opening a cell needs no script: it is a link to its findings,
// which take the focus as the target of a link does.
const std::string_view kScript = R"js(
'use strict';
const table = document.getElementById('matrix');
const rows = () => [...table.tBodies[0].rows];
const heads = [...table.tHead.rows[0].cells];
const filter = document.getElementById('filter');
const status = document.getElementById('status');

function order(column, falling) {
  const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const compare = (a, b) => (column === 0 ? value(a).localeCompare(value(b)) : value(a) - value(b));
  table.tBodies[0].append(...rows().sort((a, b) => (falling ? compare(b, a) : compare(a, b))));
  heads.forEach((head) => head.removeAttribute('aria-sort'));
  heads[column].setAttribute('aria-sort', falling ? 'descending' : 'ascending');
}

heads.forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
  const sorted = head.getAttribute('aria-sort');
  order(column, sorted ? sorted === 'ascending' : column !== 0);
}));

filter.addEventListener('input', () => {
  const wanted = filter.value.trim().toLowerCase();
  for (const row of rows()) row.hidden = !row.dataset.words.includes(wanted);
  status.textContent = `${rows().filter((row) => !row.hidden).length} of ${rows().length} shown`;
});

document.getElementById('tools').hidden = false;
)js";

const std::string_view kStyle = R"css(
:root{color-scheme:light dark;--line:#d0d7de;--soft:#f6f8fa;--link:#0550ae;--fg:#1f2328;--bg:#fff}
@media(prefers-color-scheme:dark){:root{--line:#30363d;--soft:#161b22;--link:#58a6ff;--fg:#e6edf3;
--bg:#0d1117}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;
color:var(--fg);background:var(--bg)}
a{color:var(--link)}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:1rem 0}
caption{text-align:left;padding:.3rem 0}
th,td{border:1px solid var(--line);padding:.3rem .6rem;text-align:right;vertical-align:top}
th:first-child,td.text,th.text{text-align:left}
thead th{background:var(--soft)}
th button{font:inherit;font-weight:bold;color:inherit;background:none;border:0;padding:0;
cursor:pointer;text-align:inherit}
th[aria-sort=descending] button::after{content:" \25BC"}
th[aria-sort=ascending] button::after{content:" \25B2"}
td.a{background:#7ee2a0}td.b{background:#c4e88d}td.c{background:#f6dd75}td.d{background:#f9b27c}
td.f{background:#f79a94}td.a a,td.b a,td.c a,td.d a,td.f a{color:#1f2328}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.cell:focus-visible{outline:none}
.cell{display:none;border-top:3px solid var(--line);margin-top:2rem}
.cell:target{display:block}
pre{background:var(--soft);padding:.6rem;overflow-x:auto}
)css";

}  // namespace gauntlet::html
