# SPDX-License-Identifier: Apache-2.0
# Writes the text of INPUT as a constant: page.css of the folder harness/report/html becomes
# gauntlet::html::page_css. cmake -DINPUT=... -DOUTPUT=... -P embed.cmake
file(READ "${INPUT}" text)
if(text MATCHES "\\)embedded\"")
  message(FATAL_ERROR "${INPUT}: holds )embedded\", which ends the literal that it is written as")
endif()
cmake_path(GET INPUT FILENAME name)
cmake_path(GET INPUT PARENT_PATH folder)
cmake_path(GET folder FILENAME folder)
string(MAKE_C_IDENTIFIER "${name}" name)
file(WRITE "${OUTPUT}" "#include <string_view>

namespace gauntlet::${folder} {
extern const std::string_view ${name};
const std::string_view ${name} = R\"embedded(${text})embedded\";
}
")
