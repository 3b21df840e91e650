# SPDX-License-Identifier: Apache-2.0
# Run by CPack on the staged files, before they are packed: what Debian's policy wants of a package
# and no other system does. The licence and the changelog have their places, and are compressed, as
# the man page is.
set(usr ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(doc ${usr}/share/doc/gauntlet)
configure_file(${CPACK_GAUNTLET_SOURCES}/packaging/copyright ${doc}/copyright COPYONLY)

set(ENV{SOURCE_DATE_EPOCH} ${CPACK_GAUNTLET_RELEASED})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "gauntlet (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What is new: /usr/share/doc/gauntlet/CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
# zsh's own folder is the administrator's in Debian.
file(MAKE_DIRECTORY ${usr}/share/zsh/vendor-completions)
file(RENAME ${usr}/share/zsh/site-functions/_gauntlet ${usr}/share/zsh/vendor-completions/_gauntlet)
file(REMOVE_RECURSE ${usr}/share/zsh/site-functions)
execute_process(COMMAND gzip -9n ${doc}/changelog ${usr}/share/man/man1/gauntlet.1
                COMMAND_ERROR_IS_FATAL ANY)
