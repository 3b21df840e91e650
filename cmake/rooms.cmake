# SPDX-License-Identifier: Apache-2.0
# A room is a folder harness/NAME built as one static library, gauntlet_NAME, with what lies in its
# folders. A file main.cpp in a room, and the folders `inside`, `process` and `runtime`, belong to
# programs of their own, or to a stranger's, and not to the library. Style sheets, scripts,
# templates and YAML in folders of a room are embedded as text, see embed.cmake.
set(GAUNTLET_ROOMS_OF "" CACHE PATH "Build folder to take the rooms from as they are; empty: compile them")

function(gauntlet_room name)
  set(folder ${PROJECT_SOURCE_DIR}/harness/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*/*.cpp)
  file(GLOB apart CONFIGURE_DEPENDS ${folder}/main.cpp ${folder}/inside/*.cpp
       ${folder}/process/*.cpp ${folder}/runtime/*.cpp)
  list(REMOVE_ITEM sources ${apart})
  if(NOT sources)
    message(FATAL_ERROR "harness/${name} holds no .cpp file")
  endif()
  file(GLOB texts CONFIGURE_DEPENDS ${folder}/*/*.css ${folder}/*/*.js ${folder}/*/*.yaml
       ${folder}/*/*.sh ${folder}/*/*.md ${folder}/*/*.toml ${folder}/*/*.Dockerfile)
  foreach(text IN LISTS texts)
    cmake_path(RELATIVE_PATH text BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    set(written ${PROJECT_BINARY_DIR}/embedded/${path}.cpp)
    add_custom_command(OUTPUT ${written}
                       COMMAND ${CMAKE_COMMAND} -DINPUT=${text} -DOUTPUT=${written}
                               -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
                       DEPENDS ${text} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
                       COMMENT "Embedding ${path}" VERBATIM)
    list(APPEND sources ${written})
  endforeach()
  if(GAUNTLET_ROOMS_OF)
    add_library(gauntlet_${name} STATIC IMPORTED GLOBAL)
    set_target_properties(gauntlet_${name} PROPERTIES
                          IMPORTED_LOCATION ${GAUNTLET_ROOMS_OF}/libgauntlet_${name}.a)
    set(users INTERFACE)
  else()
    add_library(gauntlet_${name} STATIC ${sources})
    set(users PUBLIC)
  endif()
  target_include_directories(gauntlet_${name} ${users} ${PROJECT_SOURCE_DIR})
  target_link_libraries(gauntlet_${name} ${users} fmt::fmt)
  foreach(dependency IN LISTS ARGN)
    if(TARGET gauntlet_${dependency})
      target_link_libraries(gauntlet_${name} ${users} gauntlet_${dependency})
    else()
      target_link_libraries(gauntlet_${name} ${users} ${dependency})
    endif()
  endforeach()
endfunction()
