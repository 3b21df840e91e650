# SPDX-License-Identifier: Apache-2.0
# A challenge is one folder name, used three times: challenges/ID, reference/ID, graders/ID.
# Nothing else names it. Every grader is compiled with GAUNTLET_CHALLENGE set to its ID and keeps its
# symbols in the namespace gauntlet::GAUNTLET_CHALLENGE, so that a copy of the folders under another
# name is a second challenge.

file(GLOB kit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/graders/kit/*.cpp)
add_library(gauntlet_kit STATIC ${kit_sources})
target_link_libraries(gauntlet_kit PUBLIC gauntlet_grading gauntlet_core Eigen3::Eigen)

add_executable(source_digest cmake/source_digest.cpp)
target_link_libraries(source_digest PRIVATE gauntlet_core)

set(GAUNTLET_CHALLENGES "" CACHE STRING "Build only these challenges, for a quick build; empty: all")
set(challenge_ids "")

# Oracles and judges are float64 code that has to keep up with the solutions they judge: their loops
# become vectors as under -O3, whose other passes are left out, because they take compile time. What
# says which cases are asked runs once a case and is compiled lightly, in half the time.
set(oracle_options -O2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # others do so under -O2; the model is called "dynamic"
  list(APPEND oracle_options -ftree-vectorize -fvect-cost-model)
endif()
set(cases_options -Og)
set(files_of_cases "/(checks_[a-z]+|domain[a-z_]*|evidence|exhibits|grader|invalid_[a-z]+)\\.cpp$")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False for what the compiler's own headers say of AVX-512, where Eigen uses it: GCC bug 105593.
  foreach(options oracle_options cases_options)
    list(APPEND ${options} -Wno-uninitialized -Wno-maybe-uninitialized)
  endforeach()
endif()
if(GAUNTLET_PROCESSOR)
  list(APPEND oracle_options -march=${GAUNTLET_PROCESSOR})
  list(APPEND cases_options -march=${GAUNTLET_PROCESSOR})
endif()

function(gauntlet_challenge id)
  foreach(needed challenges/${id}/challenge.yaml challenges/${id}/PROMPT.md
                 reference/${id}/solution.cpp graders/${id}/grader.cpp graders/${id}/mutants.yaml)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${needed})
      message(FATAL_ERROR "challenge '${id}' has a contract but no ${needed}")
    endif()
  endforeach()

  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/graders/${id}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cpp$")

  # What a verdict of this challenge depends on; a change of any of it makes stored results stale,
  # but for comments and formatting.
  file(GLOB_RECURSE graded_by CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/challenges/${id}/*
       ${PROJECT_SOURCE_DIR}/graders/${id}/* ${PROJECT_SOURCE_DIR}/graders/kit/*)
  foreach(room core sandbox build worker measure grading)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/${room}/*)
    list(APPEND graded_by ${files})
  endforeach()
  list(FILTER graded_by EXCLUDE REGEX "_(test|fuzz)\\.cpp$|\\.(md|py)$|/(contract|equivalents)\\.yaml$")

  # On the CPU also on what solutions are raced against, and on mutants and honest variants, which a
  # submission's own tests are put to; not on what is of CUDA only.
  file(GLOB_RECURSE judged_by_cpu CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/reference/${id}/*)
  list(APPEND judged_by_cpu ${graded_by})
  list(FILTER judged_by_cpu EXCLUDE REGEX "/graders/${id}/cuda/|/graders/.*(device|traffic)\\.(cpp|h)$")

  # On CUDA also on what executes kernels; not on what is tried by the audits only.
  set(judged_by_cuda ${graded_by})
  foreach(room device simt)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/${room}/*)
    list(APPEND judged_by_cuda ${files})
  endforeach()
  list(FILTER judged_by_cuda EXCLUDE REGEX
       "/graders/${id}/(cuda|honest|mutants)/|/graders/${id}/mutants.yaml$|\\.md$")

  set(digest_files "")
  foreach(device cpu cuda)
    set(digest_file ${PROJECT_BINARY_DIR}/generated/digest_${id}_${device}.cpp)
    string(REPLACE ";" "\n" judged_by_lines "${judged_by_${device}}")
    file(GENERATE OUTPUT ${digest_file}.in CONTENT "${judged_by_lines}\n")
    add_custom_command(
      OUTPUT ${digest_file}
      COMMAND source_digest ${digest_file}.in ${PROJECT_SOURCE_DIR} ${id} ${device} ${digest_file}
      DEPENDS source_digest ${judged_by_${device}} ${digest_file}.in
      COMMENT "Digesting the sources behind ${id} on ${device}")
    list(APPEND digest_files ${digest_file})
  endforeach()

  # Digests apart from the others, which they would have compiled anew with every change of what they
  # digest.
  set_source_files_properties(${digest_files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(oracles ${sources})
  list(FILTER oracles EXCLUDE REGEX "${files_of_cases}")
  set(cases ${sources})
  list(FILTER cases INCLUDE REGEX "${files_of_cases}")
  add_library(oracles_${id} OBJECT ${oracles})
  target_compile_options(oracles_${id} PRIVATE "$<$<CONFIG:Release>:${oracle_options}>")
  add_library(cases_${id} OBJECT ${cases} ${digest_files})
  target_compile_options(cases_${id} PRIVATE "$<$<CONFIG:Release>:${cases_options}>")
  foreach(part oracles cases)
    target_compile_definitions(${part}_${id} PUBLIC GAUNTLET_CHALLENGE=${id})
    # A grader includes its contract as "contract.h": its own folder name stands nowhere in its
    # files.
    target_include_directories(${part}_${id} PUBLIC ${PROJECT_SOURCE_DIR}/challenges/${id}
                                                    ${PROJECT_SOURCE_DIR}/graders/${id})
    target_link_libraries(${part}_${id} PUBLIC gauntlet_kit)
  endforeach()

  set(challenge_ids ${challenge_ids} ${id} PARENT_SCOPE)
  set(challenge_tests_${id} ${tests} PARENT_SCOPE)
endfunction()

file(GLOB contracts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/challenges/*/contract.h)
foreach(contract IN LISTS contracts)
  cmake_path(GET contract PARENT_PATH folder)
  cmake_path(GET folder FILENAME id)
  if(NOT GAUNTLET_CHALLENGES OR id IN_LIST GAUNTLET_CHALLENGES)
    gauntlet_challenge(${id})
  endif()
endforeach()

# The list of graders, written from the folders that were found.
set(declarations "")
set(entries "")
foreach(id IN LISTS challenge_ids)
  string(APPEND declarations
         "namespace ${id} {\nGrader make_grader();\n"
         "extern const char k_cpu_digest[];\nextern const char k_cuda_digest[];\n}\n")
  string(APPEND entries
         "    {\"${id}\", ${id}::make_grader, ${id}::k_cpu_digest, ${id}::k_cuda_digest},\n")
endforeach()
list(LENGTH challenge_ids challenge_count)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/all_graders.cpp CONTENT [[
// Written by cmake/challenges.cmake from the folders under challenges/.
#include <array>

#include "harness/grading/grader.h"

namespace gauntlet {
@declarations@
namespace {
const std::array<GraderEntry, @challenge_count@> kGraders{{
@entries@}};
}  // namespace

std::span<const GraderEntry> all_graders() { return kGraders; }

}  // namespace gauntlet
]] @ONLY)

# Linked by whatever grades: objects and no library, because the rooms below ask for the list.
add_library(gauntlet_graders OBJECT ${PROJECT_BINARY_DIR}/generated/all_graders.cpp)
target_link_libraries(gauntlet_graders PUBLIC gauntlet_kit)
foreach(id IN LISTS challenge_ids)
  target_sources(gauntlet_graders INTERFACE $<TARGET_OBJECTS:oracles_${id}>
                                            $<TARGET_OBJECTS:cases_${id}>)
endforeach()
