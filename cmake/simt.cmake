# SPDX-License-Identifier: Apache-2.0
# The simulator's lanes are compiled once for each vector unit, and the one that suits the CPU is
# chosen when it runs. Results are equal to the bit: nothing is contracted that is not written so.
set(lane_options -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND lane_options -Wno-pass-failed)  # a loop that it cannot vectorise is slower and no worse
endif()
set(lane_options_baseline "")
set(lane_options_avx2 -mavx2 -mfma)
foreach(unit baseline avx2)
  set_source_files_properties(harness/simt/lanes/lanes_${unit}.cpp PROPERTIES
                              SKIP_UNITY_BUILD_INCLUSION ON
                              COMPILE_OPTIONS "${lane_options};${lane_options_${unit}}")
endforeach()
# The device process is linked to the simulator and to nothing else, not even to the library of fmt.
if(NOT GAUNTLET_ROOMS_OF)
  target_compile_definitions(gauntlet_simt PRIVATE FMT_HEADER_ONLY)
  target_compile_options(gauntlet_simt PRIVATE -ffp-contract=off -fno-strict-aliasing)
endif()
