# SPDX-License-Identifier: Apache-2.0
# The device process, and the CUDA runtime that is linked into a solution's library.
file(GLOB device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/device/process/*.cpp)
add_executable(gauntlet_device_program ${device_sources} harness/core/text.cpp)
set_target_properties(gauntlet_device_program PROPERTIES OUTPUT_NAME gauntlet-device)
target_include_directories(gauntlet_device_program PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(gauntlet_device_program PRIVATE FMT_HEADER_ONLY)
add_dependencies(gauntlet_device_program gauntlet_simt)
target_link_libraries(gauntlet_device_program PRIVATE $<TARGET_FILE:gauntlet_simt>
                      nlohmann_json::nlohmann_json Threads::Threads)

file(GLOB runtime_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/device/runtime/*.cpp)
add_library(gauntlet_cuda_runtime STATIC ${runtime_sources})
set_target_properties(gauntlet_cuda_runtime PROPERTIES POSITION_INDEPENDENT_CODE ON
                      CXX_VISIBILITY_PRESET hidden GAUNTLET_UNTRUSTED ON
                      ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
target_include_directories(gauntlet_cuda_runtime PRIVATE ${PROJECT_SOURCE_DIR})
