#!/usr/bin/env bash
# Unpacks the committed PTX into a folder, which it makes. Usage: unpack.sh FOLDER
set -euo pipefail
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")"

unpack() { # UNIT, and before it the unit that it is like
	local base
	base=$(awk -v unit="$1" '$1 == unit {print $2}' alike)
	[ -z "$base" ] || [ -e "$out/${base}_sm_90.ptx" ] || unpack "$base"
	zstd --quiet -dc ${base:+--patch-from="$out/${base}_sm_90.ptx"} "$1_sm_90.ptx.zst" > "$out/$1_sm_90.ptx"
	zstd --quiet -dc --patch-from="$out/$1_sm_90.ptx" "$1_sm_75.ptx.zst" > "$out/$1_sm_75.ptx"
}

for newer in *_sm_90.ptx.zst; do
	unpack "${newer%_sm_90.ptx.zst}"
done
