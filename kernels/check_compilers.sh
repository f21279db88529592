#!/usr/bin/env bash
# Shows that the compilers on this machine accept the kernels unchanged: clang-19, nvcc (as a whole and file by file) and
# g++ (each file on its own). NVRTC is checked by a test of backend/cuda. Names what it could not check; fails on a refusal.
set -euo pipefail
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
committed=$out/committed
go run ./text "$committed"

# have says whether a compiler is there.
have() {
	command -v "$1" > /dev/null || { echo "not here: $1"; return 1; }
}

if have clang-19; then
	mkdir "$out/built"
	bash build.sh "$out/built"
	diff -rq "$committed" "$out/built"
	echo "clang-19: same PTX"
fi
if have nvcc; then
	for arch in sm_75 sm_90; do
		for f in *.cu; do
			nvcc --fmad=false -arch=$arch -std=c++17 -Werror all-warnings -diag-suppress 177 -cubin -o "$out/$arch.cubin" "$f"
		done
		nvcc --fmad=false -arch=$arch -std=c++17 -ptx -o "$out/nvcc_$arch.ptx" custom.cu
		grep -q custom_update "$out/nvcc_$arch.ptx" || { echo "nvcc left no place for the genome's models"; exit 1; }
		nvcc --fmad=false -arch=$arch -std=c++17 -ptx -o "$out/nvcc_$arch.ptx" burst.cu
		if grep -v '// meant' "$out/nvcc_$arch.ptx" | grep -E 'fma\.rn\.f32|\.ftz|\.approx'; then
			echo "nvcc fused or approximated"
			exit 1
		fi
		# The committed PTX must assemble as well.
		for f in "$committed"/*_$arch.ptx; do
			ptxas -arch=$arch -o "$out/clang.cubin" "$f"
		done
	done
	echo "nvcc: $(nvcc --version | tail -n 1)"
fi
if have g++; then
	for f in *.cu; do
		g++ -std=c++17 -x c++ -I../internal/cuda/cudatest/host -ffp-contract=off -Wall -Wno-unused-function -Wno-pragma-once-outside-header -fsyntax-only "$f"
	done
	echo "g++: $(g++ -dumpversion)"
fi
