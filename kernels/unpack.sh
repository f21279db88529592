#!/usr/bin/env bash
# Unpacks the committed PTX into a folder, which it makes. Usage: unpack.sh FOLDER
set -euo pipefail
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")"
for newer in *_sm_90.ptx.zst; do
	unit=${newer%_sm_90.ptx.zst}
	case $unit in
	moving) zstd --quiet -dc --patch-from="$out/burst_sm_90.ptx" "$newer" > "$out/${unit}_sm_90.ptx" ;; # burst has been before
	*) zstd --quiet -dc "$newer" > "$out/${unit}_sm_90.ptx" ;;
	esac
	zstd --quiet -dc --patch-from="$out/${unit}_sm_90.ptx" "${unit}_sm_75.ptx.zst" > "$out/${unit}_sm_75.ptx"
done
