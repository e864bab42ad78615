#!/usr/bin/env bash
# deps.sh [PACKAGE...]: installs the Debian packages of scripts/deps.txt that are missing, or of those
# named; prints nothing if none is.
# Services that come with them (web, database servers) are not started, now or at boot: the tests
# start their own.
set -euo pipefail

table="$(dirname "${BASH_SOURCE[0]}")/deps.txt"
no_services=/usr/sbin/policy-rc.d
services=(nginx redis-server postgresql)

fail() {
    echo "deps.sh: $*" >&2
    exit 1
}

if (($#)); then wanted=("$@"); else mapfile -t wanted < <(sed -n 's/^\([a-z0-9][a-z0-9+.-]*\) .*/\1/p' "$table"); fi

# Prints the wanted packages that are not installed.
missing_packages() {
    comm -23 <(printf '%s\n' "${wanted[@]}" | sort) \
        <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u)
}

command -v apt-get >/dev/null || fail "this needs apt-get (Debian or a system like it); $table lists the packages"

mapfile -t missing < <(missing_packages)
((${#missing[@]})) || exit 0
((EUID == 0)) || fail "not root; run: sudo apt-get install --no-install-recommends ${missing[*]}"
echo "deps.sh: installing ${missing[*]}"

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
made_policy=false
clean_up() {
    rm -f "$log"
    if $made_policy; then rm -f "$no_services"; fi
}
trap clean_up EXIT

# Debian asks this program whether a package may start its service.
if [[ ! -e $no_services ]]; then
    made_policy=true
    install -m 755 /dev/stdin "$no_services" <<<$'#!/bin/sh\nexit 101'
fi

install_missing() {
    apt-get update -q && apt-get install -y -q --no-install-recommends "${missing[@]}"
}
install_missing >"$log" 2>&1 </dev/null || {
    tail -n 40 "$log" >&2
    fail "apt-get could not install ${missing[*]} (its output is above)"
}

for service in "${services[@]}"; do
    if printf '%s\n' "${missing[@]}" | grep -q "^$service"; then
        update-rc.d "$service" disable >/dev/null 2>&1 || echo "deps.sh: could not disable $service at boot" >&2
    fi
done

mapfile -t missing < <(missing_packages)
((${#missing[@]} == 0)) || fail "still not installed: ${missing[*]}"
