#!/usr/bin/env bash
# Rebuilds the kernels' PTX with Debian's clang-19 (no CUDA toolkit). Unless an output folder is given it is compressed, as the program
# embeds it, and SHA256SUMS lists the sums of sources and PTX. Numbers of registers are made relative, which compresses better. That
# for sm_75 is kept as what differs from that for sm_90, which is little, and units of the file `alike` as what differs from the unit
# named beside them. kernels.go reads all.
# Contraction is off: every float operation of the law rounds on its own; the toolbox fuses where it says so.
set -euo pipefail
cd "$(dirname "$0")"
[ $# = 1 ] || trap 'rm -rf "$out"' EXIT
out=${1:-$(mktemp -d "$PWD/.new.XXXXXX")}
# A unit uses some of its headers' functions only.
for unit in burst: moving: large:-Wno-unused-function outside:-Wno-unused-function lists:-Wno-unused-function lasting:-Wno-unused-function event:-Wno-unused-function late:-Wno-unused-function custom:-Wno-unused-function custom_lists:-Wno-unused-function learn:-Wno-unused-function local:-Wno-unused-function driven:-Wno-unused-function build:-Wno-unused-function near:-Wno-unused-function toolbox:-Wno-unused-function; do
	for target in sm_75,ptx63 sm_90,ptx78; do
		arch=${target%,*}
		# The oldest PTX version that knows the architecture, so that the oldest drivers take it; an installed CUDA toolkit
		# would raise it, so clang is not to look for one.
		clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=$arch -Xclang -target-feature -Xclang +${target#*,} \
			--cuda-path=/none -nocudainc -nocudalib -ffp-contract=off -fno-verbose-asm -O3 -std=c++17 \
			-Wall -Werror -Wno-unknown-cuda-version ${unit#*:} -S -o "$out/${unit%:*}_$arch.ptx" "${unit%:*}.cu"
	done
done
if [ $# = 0 ]; then # each file is replaced when it is whole
	(LC_ALL=C sha256sum ./*.cu ./*.cuh && cd "$out" && LC_ALL=C sha256sum ./*.ptx) | sed 's#\./##' > "$out/SHA256SUMS"
	go build -o "$out/relative" ./relative
	for ptx in "$out"/*.ptx; do
		"$out/relative" < "$ptx" > "$ptx.new"
		mv "$ptx.new" "$ptx"
	done
	for newer in "$out"/*_sm_90.ptx; do
		older=${newer%_sm_90.ptx}_sm_75.ptx
		zstd -19 --quiet --no-progress --patch-from="$newer" "$older"
		base=$(awk -v unit="$(basename "$newer" _sm_90.ptx)" '$1 == unit {print $2}' alike)
		zstd -19 --quiet --no-progress ${base:+--patch-from="$out/${base}_sm_90.ptx"} "$newer" 2> /dev/null || { # it gives advice on slower ways, too
			echo "zstd cannot compress $newer" >&2
			exit 1
		}
	done
	rm "$out"/*.ptx "$out/relative"
	mv "$out"/* .
fi
