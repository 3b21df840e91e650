# SPDX-License-Identifier: Apache-2.0
# Protocols of public graders on our mutants (docs/peers.md): a program that is run by hand, and its
# tests. A file tests/peers/questions/ID.cpp is compiled with what the grader ID is compiled with.
set(peers ${PROJECT_SOURCE_DIR}/tests/peers)
add_library(peers STATIC ${peers}/peer.cpp ${peers}/comparison.cpp ${peers}/question.cpp
                         ${peers}/referee.cpp ${peers}/page.cpp)
target_link_libraries(peers PUBLIC gauntlet_grading)
add_library(peers_questions INTERFACE)
target_link_libraries(peers_questions INTERFACE peers gauntlet_graders)
foreach(id IN LISTS challenge_ids)
  if(EXISTS ${peers}/questions/${id}.cpp)
    add_library(peers_${id} OBJECT ${peers}/questions/${id}.cpp)
    target_compile_definitions(peers_${id} PRIVATE GAUNTLET_CHALLENGE=${id})
    target_include_directories(peers_${id} PRIVATE ${PROJECT_SOURCE_DIR}/challenges/${id}
                                                   ${PROJECT_SOURCE_DIR}/graders/${id})
    target_link_libraries(peers_${id} PRIVATE gauntlet_kit)
    target_sources(peers_questions INTERFACE $<TARGET_OBJECTS:peers_${id}>)
  endif()
endforeach()

add_executable(gauntlet_peers ${peers}/main.cpp)
target_link_libraries(gauntlet_peers PRIVATE peers_questions gauntlet_graders)
target_compile_definitions(gauntlet_peers PRIVATE GAUNTLET_ROOT="${PROJECT_SOURCE_DIR}"
                                                  GAUNTLET_BIN="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
add_dependencies(gauntlet_peers gauntlet_worker_program)
target_link_libraries(test_peers PRIVATE peers_questions)

# The one command: builds what it needs, tries everybody, writes the table into docs/peers.md.
add_custom_target(peers_page COMMAND gauntlet_peers --write USES_TERMINAL)
