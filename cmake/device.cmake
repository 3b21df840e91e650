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

# What solutions are compiled with lies beside the programs, the headers as of this build.
file(GLOB_RECURSE cuda_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/simt/include/*.h)
set(cuda_headers_here ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/cuda-headers)
set(cuda_headers_stamp ${PROJECT_BINARY_DIR}/generated/cuda-headers.stamp)
add_custom_command(
  OUTPUT ${cuda_headers_stamp}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${cuda_headers_here}
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/harness/simt/include ${cuda_headers_here}
  COMMAND ${CMAKE_COMMAND} -E touch ${cuda_headers_stamp}
  DEPENDS ${cuda_headers}
  COMMENT "Copying the headers of CUDA sources" VERBATIM)
# Of a build of its own: who grades no CUDA solution waits for none of it.
add_custom_target(gauntlet_cuda_parts ALL DEPENDS ${cuda_headers_stamp})
add_dependencies(gauntlet_cuda_parts gauntlet_device_program gauntlet_cuda_runtime)
