#!/usr/bin/env bash
# Proves and measures networks on several GPUs of one host, in about two minutes on four: the digests of examples on one,
# two and four devices, then weak and strong scaling with the time of the exchange, then the digests of longer examples.
# usage: bench/gpu-scaling.sh BURST FOLDER
set -uo pipefail
burst=$1 out=$2 failed=0
mkdir -p "$out"

measure() { # measure NAME SECONDS ARGUMENT...
	local name=$1 most=$2
	shift 2
	timeout -s KILL "$most" "$burst" bench --backend cuda --devices all "$@" --json > "$out/$name.json" || { echo "FAILED: $name"; failed=1; }
	echo "== $name, $SECONDS s"
}

"$burst" devices
measure digests-short 40 --suite digests quickstart c-elegans brunel-c burst-100k burst-100k-feagi
measure scaling 100 --suite scaling
measure digests-long 60 --suite digests izhikevich-2003 poisson-lif brunel-a vogels-abbott-cuba potjans-diesmann-10 burst-1m burst-1m-feagi
exit $failed
