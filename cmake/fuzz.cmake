# SPDX-License-Identifier: Apache-2.0
# Fuzzers of everything that parses foreign bytes: tests/fuzz/NAME_fuzz.cpp and
# graders/ID/NAME_fuzz.cpp, each a program fuzz_NAME. With clang, by the preset `fuzz`:
#   cmake --preset fuzz && cmake --build --preset fuzz
#   build/fuzz/bin/fuzz_yaml -max_total_time=3600 SOME_FOLDER
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "GAUNTLET_FUZZ needs clang, which has libFuzzer: -DCMAKE_CXX_COMPILER=clang++")
endif()

add_custom_target(fuzzers)

function(gauntlet_fuzzer source)
  cmake_path(GET source STEM name)
  string(REPLACE "_fuzz" "" name ${name})
  add_executable(fuzz_${name} ${source} ${ARGN})
  target_link_libraries(fuzz_${name} PRIVATE gauntlet_build gauntlet_simt gauntlet_worker gauntlet_store
                        gauntlet_core)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${name})
endfunction()

file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)
foreach(source IN LISTS fuzzers)
  gauntlet_fuzzer(${source})
endforeach()
# What serves a worker in the device process, which is a program and no library.
file(GLOB served CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/device/process/*.cpp)
list(FILTER served EXCLUDE REGEX "/main\\.cpp$")
target_sources(fuzz_device PRIVATE ${served})

file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/graders/*/*_fuzz.cpp)
foreach(source IN LISTS fuzzers)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME id)
  if(TARGET oracles_${id})
    gauntlet_fuzzer(${source} $<TARGET_OBJECTS:oracles_${id}> $<TARGET_OBJECTS:cases_${id}>)
    cmake_path(GET source STEM name)
    string(REPLACE "_fuzz" "" name ${name})
    target_link_libraries(fuzz_${name} PRIVATE gauntlet_kit)
    target_compile_definitions(fuzz_${name} PRIVATE GAUNTLET_CHALLENGE=${id})
    target_include_directories(fuzz_${name} PRIVATE ${folder} ${PROJECT_SOURCE_DIR}/challenges/${id})
  endif()
endforeach()
