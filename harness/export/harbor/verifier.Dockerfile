# SPDX-License-Identifier: Apache-2.0
# The verifier's container, which no agent has been in: Gauntlet with its graders and references.
# packaging/Containerfile of Gauntlet's checkout makes such an image.
FROM @IMAGE@
# That one grades as an ordinary user; the folders that Harbor mounts are root's.
USER root
COPY token /etc/gauntlet-verifier
COPY test.sh /tests/test.sh
# Harbor says by a command what runs, and an entry point would take that for its arguments.
ENTRYPOINT []
