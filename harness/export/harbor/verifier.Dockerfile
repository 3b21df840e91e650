# SPDX-License-Identifier: Apache-2.0
# The verifier's container, which no agent has been in: Gauntlet with its graders and references.
FROM @IMAGE@
COPY token /etc/gauntlet-verifier
COPY test.sh /tests/test.sh
# Harbor says by a command what runs, and an entry point would take that for its arguments.
ENTRYPOINT []
