#!/usr/bin/env bash
# The tests of package kernels on emulated x86 CPUs of several ages: the set that
# each picks, and its bits. From the module's root; needs qemu-user-static and
# Linux. qemu has no AVX-512, and reads what VMASKMOVPD masks out, so that guard
# pages are left to real CPUs.
set -euo pipefail
binary=$(mktemp)
trap 'rm -f "$binary"' EXIT
CGO_ENABLED=0 GOARCH=amd64 go test -c -o "$binary" ./kernels
cd kernels # the tests read the assembly as text
while read -r cpu best; do
  echo "$cpu: $best"
  PARE_CI_BEST=$best qemu-x86_64-static -cpu "$cpu" "$binary" -test.short \
    -test.run 'Best|Documented|Tiles|FoundByName' \
    2> >(grep -v "TCG doesn't support" >&2 || true)
done <<'CPUS'
Nehalem purego
SandyBridge purego
Haswell,-fma purego
Haswell avx2
EPYC-Rome avx2
CPUS
