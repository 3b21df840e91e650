# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, by the GNU folders, and the Debian package (target `package`).
# An installed program finds the rest by the way from its own folder: see harness/cli/installation.h.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS  # whatever umask it is built under
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(data ${CMAKE_INSTALL_DATADIR}/gauntlet)
set(programs ${CMAKE_INSTALL_LIBEXECDIR}/gauntlet)
install(TARGETS gauntlet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS gauntlet_worker_program gauntlet_device_program RUNTIME DESTINATION ${programs})
install(TARGETS gauntlet_cuda_runtime ARCHIVE DESTINATION ${programs})
install(DIRECTORY harness/simt/include/ DESTINATION ${programs}/cuda-headers)

# The data lie as in a checkout. Of the graders, what audits and submissions' tests are tried with;
# their code is in the program.
foreach(id IN LISTS challenge_ids)
  install(DIRECTORY challenges/${id} DESTINATION ${data}/challenges)
  install(DIRECTORY reference/${id} DESTINATION ${data}/reference)
  install(DIRECTORY graders/${id}/honest DESTINATION ${data}/graders/${id})
  file(GLOB described CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/graders/${id}/*.yaml)
  install(FILES ${described} DESTINATION ${data}/graders/${id})
endforeach()
install(FILES harness/score/rubric.yaml harness/score/needs.yaml DESTINATION ${data}/harness/score)
install(DIRECTORY tests/attacks DESTINATION ${data}/tests FILES_MATCHING PATTERN "*.yaml")

# The man page and what shells complete are the program's own words, so that they cannot drift.
set(written ${PROJECT_BINARY_DIR}/written)
set(from_program "help man-page" gauntlet.1 "completion bash" gauntlet.bash
                 "completion zsh" _gauntlet "completion fish" gauntlet.fish)
set(written_files "")
while(from_program)
  list(POP_FRONT from_program words file)
  separate_arguments(words)
  add_custom_command(OUTPUT ${written}/${file}
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${written}
                     COMMAND gauntlet ${words} > ${written}/${file}
                     DEPENDS gauntlet COMMENT "Writing ${file}" VERBATIM)
  list(APPEND written_files ${written}/${file})
endwhile()
add_custom_target(gauntlet_written ALL DEPENDS ${written_files})
install(FILES ${written}/gauntlet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${written}/gauntlet.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME gauntlet)
install(FILES ${written}/_gauntlet DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${written}/gauntlet.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The authors of Gauntlet")
set(CPACK_PACKAGE_CONTACT "The authors of Gauntlet <maintainers@gauntlet.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "grader of C++ solutions that language models wrote")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${PROJECT_SOURCE_DIR}/packaging/description.txt)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Solutions are compiled where they are graded; `ci` asks git what changed.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "git")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian_files.cmake)
set(CPACK_INSTALL_SCRIPTS "")
set(CPACK_GAUNTLET_RELEASED ${GAUNTLET_RELEASED})
set(CPACK_GAUNTLET_SOURCES ${PROJECT_SOURCE_DIR})
include(CPack)
