#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian package in a Debian 12 that has nothing else, and grades there as an ordinary
# user, in a folder that is no checkout. As root, by hand; minutes, and a gigabyte that is removed:
#
#   ./gauntlet package && tests/packages/clean_machine.sh [PACKAGE]
#
# debootstrap takes packages from where this machine does; GAUNTLET_MIRROR names another place.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
skip() { printf '%s; this test is skipped\n' "$*"; exit 0; }
fail() { printf 'clean machine: %s\n' "$*" >&2; exit 1; }

((EUID == 0)) || skip "only root can make another system's folder"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
package=${1:-$(compgen -G "$root/build/package/gauntlet_*.deb" | tail -n 1 || true)}
[[ -f $package ]] || fail "there is no package; ./gauntlet package builds it"

machine=$(mktemp -d)
trap 'rm -rf --one-file-system "$machine"' EXIT
printf 'a Debian 12 in %s ...\n' "$machine"
debootstrap --variant=minbase bookworm "$machine" ${GAUNTLET_MIRROR:+"$GAUNTLET_MIRROR"} \
  >"$machine.log" 2>&1 || fail "debootstrap failed: $(tail -n 3 "$machine.log")"
rm "$machine.log"
cp "$package" "$machine/tmp/gauntlet.deb"
cp -L /etc/resolv.conf "$machine/etc/resolv.conf"
for kind in sources.list sources.list.d apt.conf.d trusted.gpg.d; do
  [[ ! -e /etc/apt/$kind ]] || cp -rL "/etc/apt/$kind" "$machine/etc/apt"
done

# Has the machine run a program as its own root: in namespaces of its own, and with a root that is no
# chroot, from which no user could make further namespaces.
in_machine() {
  unshare --mount --uts --ipc --pid --fork bash -c '
    set -e
    mount --bind "$0" "$0"
    cd "$0"
    mount --rbind /dev dev
    mount --rbind /sys sys
    mount -t proc proc proc
    mkdir -p host
    pivot_root . host
    umount -l host
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"' "$machine" "$@"
}

printf 'the package, with what it depends on ...\n'
in_machine bash -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends /tmp/gauntlet.deb' >/dev/null 2>&1 ||
  fail "apt-get did not install the package"
in_machine useradd --create-home somebody
as_somebody() {
  in_machine setpriv --reuid somebody --regid somebody --init-groups env HOME=/home/somebody \
    bash -c 'cd ~ && "$@"' - "$@"
}
for submission in textbook hasty; do
  mkdir -p "$machine/home/somebody/$submission"
  cp -r "$root/submissions/$submission"/{model.yaml,layernorm_backward} \
    "$machine/home/somebody/$submission"
done
in_machine chown -R somebody: /home/somebody

as_somebody gauntlet --version
as_somebody gauntlet doctor
as_somebody gauntlet validate textbook hasty
as_somebody gauntlet rerun textbook layernorm_backward --quiet --json >"$machine/textbook.json"
as_somebody gauntlet reward hasty -c layernorm_backward --no-speed --quiet --json >"$machine/hasty.json"
grep -q '"failures":\[\]' <(as_somebody gauntlet reward textbook -c layernorm_backward --no-speed \
  --quiet --json) || fail "a right solution is not found right"
grep -q '"verdict":"wrong"' "$machine/hasty.json" || fail "a wrong solution is not found wrong"
as_somebody gauntlet show textbook layernorm_backward
[[ -e $machine/home/somebody/results/textbook/layernorm_backward/receipt.json ]] ||
  fail "no results beside the submission"
printf 'clean machine: the package grades\n'
