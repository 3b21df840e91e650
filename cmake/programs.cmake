# SPDX-License-Identifier: Apache-2.0
# The two programs and the tests.

file(GLOB worker_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/worker/inside/*.cpp)
add_executable(gauntlet_worker_program harness/worker/main.cpp ${worker_sources})
set_target_properties(gauntlet_worker_program PROPERTIES OUTPUT_NAME gauntlet-worker
                                                 GAUNTLET_UNTRUSTED ON)
target_include_directories(gauntlet_worker_program PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(gauntlet_worker_program PRIVATE Threads::Threads ${CMAKE_DL_LIBS})

add_executable(gauntlet harness/cli/main.cpp)
target_link_libraries(gauntlet PRIVATE gauntlet_cli gauntlet_graders)
add_dependencies(gauntlet gauntlet_worker_program)

# What it says of itself, and the way from it to what is installed with it.
include(GNUInstallDirs)
set(ENV{SOURCE_DATE_EPOCH} ${GAUNTLET_RELEASED})
string(TIMESTAMP released "%B %d, %Y" UTC)
unset(ENV{SOURCE_DATE_EPOCH})
set(processor ${GAUNTLET_PROCESSOR})
if(NOT processor)
  set(processor any)
endif()
foreach(folder DATADIR LIBEXECDIR)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_${folder} BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR}
             OUTPUT_VARIABLE ${folder}_from_bin)
endforeach()
target_compile_definitions(gauntlet PRIVATE
  GAUNTLET_VERSION="${PROJECT_VERSION}"
  GAUNTLET_RELEASED="${released}"
  GAUNTLET_BUILD="by ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} as $<CONFIG> for ${CMAKE_SYSTEM_PROCESSOR}, oracles for processor ${processor}"
  GAUNTLET_DATA_FROM_BIN="${DATADIR_from_bin}/gauntlet"
  GAUNTLET_PROGRAMS_FROM_BIN="${LIBEXECDIR_from_bin}/gauntlet")
# Lies beside what was built and says whose it is: harness/cli/installation.h.
file(GENERATE OUTPUT ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gauntlet-checkout
     CONTENT "${PROJECT_SOURCE_DIR}")

if(NOT GAUNTLET_TESTS)
  return()
endif()
enable_testing()
include(doctest)

add_library(test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/main.cpp)
target_link_libraries(test_main PUBLIC doctest::doctest)

# tests/ROOM/*_test.cpp is one program, test_ROOM; every TEST_CASE is one ctest test, with the
# further properties ${test_properties}.
function(gauntlet_test name)
  add_executable(test_${name} $<TARGET_OBJECTS:test_main> ${ARGN})
  target_link_libraries(test_${name} PRIVATE doctest::doctest gauntlet_cli gauntlet_graders)
  if(precompiled_headers)
    target_precompile_headers(test_${name} REUSE_FROM ${precompiled_headers})
  endif()
  # Half as long to compile. Not -O0: what the linker takes of templates may be the test's.
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  target_compile_definitions(test_${name} PRIVATE GAUNTLET_ROOT="${PROJECT_SOURCE_DIR}"
                             GAUNTLET_BIN="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  # What it runs is there when it is linked; to compile it waits for nothing.
  set_property(TARGET test_${name} APPEND PROPERTY LINK_DEPENDS
               ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gauntlet
               ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gauntlet-worker
               ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gauntlet-device
               ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libgauntlet_cuda_runtime.a ${cuda_headers_stamp})
  doctest_discover_tests(test_${name} TEST_PREFIX "${name}: " PROPERTIES TIMEOUT 600 ${test_properties}
                         SKIP_REGULAR_EXPRESSION "; this test is skipped")
endfunction()

# Begun early, after the audits, so that no core waits at the end for the last of them.
set(long_tests end_to_end judges run)

file(GLOB test_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/*)
foreach(folder IN LISTS test_folders)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*_test.cpp)
  if(sources)
    cmake_path(GET folder FILENAME name)
    set(test_properties "")
    if(name STREQUAL "attacks")  # they show themselves for moments, which others could hide
      set(test_properties RUN_SERIAL ON TIMEOUT 1800)
    elseif(name IN_LIST long_tests)
      set(test_properties COST 50)
    endif()
    gauntlet_test(${name} ${sources})
  endif()
endforeach()

# Judges that are easily fooled, for what no wall stops. What they run may look for their symbols.
target_sources(test_judges PRIVATE ${PROJECT_SOURCE_DIR}/tests/judges/naive_judge.cpp)
set_target_properties(test_judges PROPERTIES ENABLE_EXPORTS ON)

# A sample for each rule of what may not be published.
target_sources(test_publish PRIVATE ${PROJECT_SOURCE_DIR}/tests/publish/samples.cpp)

# What instructions have to give, told from their names alone.
target_sources(test_simt PRIVATE ${PROJECT_SOURCE_DIR}/tests/simt/reference.cpp
               ${PROJECT_SOURCE_DIR}/tests/simt/instructions.cpp
               ${PROJECT_SOURCE_DIR}/tests/simt/recorded_launch.cpp)
target_link_libraries(test_simt PRIVATE gauntlet_simt)

# A worker that has a device, and a library that lies to it.
target_link_libraries(test_device PRIVATE gauntlet_device)
file(GLOB inside_a_worker CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/worker/inside/*.cpp)
add_executable(gauntlet_device_test_host tests/device/host/host_main.cpp ${inside_a_worker})
set_target_properties(gauntlet_device_test_host PROPERTIES OUTPUT_NAME gauntlet-device-test-host
                                                           GAUNTLET_UNTRUSTED ON)
target_include_directories(gauntlet_device_test_host PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(gauntlet_device_test_host PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
add_library(gauntlet_device_liar MODULE tests/device/host/liar.cpp)
set_target_properties(gauntlet_device_liar PROPERTIES PREFIX "" OUTPUT_NAME gauntlet-device-liar
                      GAUNTLET_UNTRUSTED ON
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
target_include_directories(gauntlet_device_liar PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(gauntlet_device_liar PRIVATE Threads::Threads)
add_dependencies(test_device gauntlet_device_program gauntlet_cuda_runtime
                 gauntlet_device_test_host gauntlet_device_liar)

# gauntlet_audit(NAME BRIEF OPTION...): two tests of one audit: what is asked of it after every change,
# with the options ${brief} as well, and all of it, labelled "long" and left to ./gauntlet test --long
# and --all.
function(gauntlet_audit name brief)
  add_test(NAME "audit: ${name}" COMMAND gauntlet audit ${ARGN} ${brief})
  add_test(NAME "whole audit: ${name}" COMMAND gauntlet audit ${ARGN})
  set_tests_properties("audit: ${name}" "whole audit: ${name}" PROPERTIES TIMEOUT 1800 COST 100)
  set_tests_properties("whole audit: ${name}" PROPERTIES LABELS long)
endfunction()

gauntlet_audit(attacks --brief --attacks)
set_tests_properties("audit: attacks" "whole audit: attacks" PROPERTIES RUN_SERIAL ON COST 0)

# The graders are graded: mutants killed, no honest variant rejected. The inputs are the same each
# time, so that a red test is the doing of a change and never of a draw, and so that it is red again
# when it is looked into; ./gauntlet audit draws others, asks mutants all checks, and counts over many
# seeds by --seeds and --mutant-seeds. After every change two mutants and two honest variants are tried,
# others whenever the grader is another; these two share out all checks. They count cases and tokens and
# no seconds, so that they may run beside each other and beside other tests; one job each, and begun
# first, keeps every core at work to the end.
set(audit_options --seed 1 --seeds 1 --jobs 1 --brief --quiet)
foreach(id IN LISTS challenge_ids)
  gauntlet_audit(${id} "--sample;2;--fewest" -c ${id} ${audit_options})
  if(EXISTS ${PROJECT_SOURCE_DIR}/graders/${id}/cuda)
    gauntlet_audit(${id}@cuda "--sample;2;--fewest" -c ${id} --device cuda ${audit_options})
  endif()
endforeach()

set(test_properties "")
foreach(id IN LISTS challenge_ids)
  if(challenge_tests_${id})
    gauntlet_test(${id} ${challenge_tests_${id}})
    target_compile_definitions(test_${id} PRIVATE GAUNTLET_CHALLENGE=${id})
    target_include_directories(test_${id} PRIVATE ${PROJECT_SOURCE_DIR}/challenges/${id}
                                                  ${PROJECT_SOURCE_DIR}/graders/${id})
  endif()
endforeach()

# Run by hand, on a quiet machine: what a worker costs (its start, a call, a restart), how near the
# references come to the machine's ceilings, how fast kernels are simulated, what a device costs, and
# where time goes with tens of thousands of cells.
foreach(bench worker reference simt device scale)
  add_executable(gauntlet_bench_${bench} tests/bench/${bench}_bench.cpp)
  target_link_libraries(gauntlet_bench_${bench} PRIVATE gauntlet_run gauntlet_graders)
  target_compile_definitions(gauntlet_bench_${bench}
                             PRIVATE GAUNTLET_ROOT="${PROJECT_SOURCE_DIR}"
                                     GAUNTLET_BIN="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  add_dependencies(gauntlet_bench_${bench} gauntlet_worker_program)
  if(CMAKE_UNITY_BUILD)  # whoever runs one names it; other builds show that all compile
    set_target_properties(gauntlet_bench_${bench} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endforeach()
target_link_libraries(gauntlet_bench_worker PRIVATE benchmark::benchmark)
target_link_libraries(gauntlet_bench_simt PRIVATE gauntlet_simt)
add_dependencies(gauntlet_bench_device gauntlet_cuda_parts)
target_link_libraries(gauntlet_bench_scale PRIVATE gauntlet_cli)

add_test(NAME "house: the committed reports say what their data say"
         COMMAND gauntlet report --check)
add_test(NAME "house: a copied challenge works with no edited file"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/house/ninth_challenge.sh ${PROJECT_SOURCE_DIR}
                 ${PROJECT_BINARY_DIR})
set_tests_properties("house: a copied challenge works with no edited file"
                     PROPERTIES TIMEOUT 900 COST 60)

# What others do at the same time would count as left behind.
add_test(NAME "run: rewards in a loop say the same and leave nothing behind"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/run/reward_loop.sh)
set_tests_properties("run: rewards in a loop say the same and leave nothing behind" PROPERTIES
                     RUN_SERIAL ON TIMEOUT 300
                     ENVIRONMENT GAUNTLET_PROGRAM=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gauntlet)

add_test(NAME "packages: an installed program grades without a checkout"
         COMMAND ${PROJECT_SOURCE_DIR}/tests/packages/installed_program.sh ${PROJECT_SOURCE_DIR}
                 ${PROJECT_BINARY_DIR})
set_tests_properties("packages: an installed program grades without a checkout"
                     PROPERTIES TIMEOUT 900 COST 50)

# Layout, and what clang-tidy finds: in folders that a change touched where people run the tests, as a
# whole under the second compiler, beside whose build that of the release preset lies.
set(style ${PROJECT_SOURCE_DIR}/tests/house)
add_test(NAME "house: sources are formatted" COMMAND ${style}/clang_format.sh ${PROJECT_SOURCE_DIR})
if(CMAKE_UNITY_BUILD AND NOT GAUNTLET_SANITIZE)
  add_test(NAME "house: clang-tidy finds nothing in changed folders"
           COMMAND ${style}/clang_tidy.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set(tidy_test "house: clang-tidy finds nothing in changed folders")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT GAUNTLET_SANITIZE)
  add_test(NAME "house: clang-tidy finds nothing at all"
           COMMAND ${style}/clang_tidy.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/../release as-a-whole)
  set(tidy_test "house: clang-tidy finds nothing at all")
endif()
set_tests_properties("house: sources are formatted" ${tidy_test} PROPERTIES
                     SKIP_REGULAR_EXPRESSION "; this test is skipped" TIMEOUT 1800 COST 60)

include(cmake/peers.cmake)
