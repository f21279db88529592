#!/usr/bin/env bash
# Launches every kernel under compute-sanitizer's four tools, side by side; each must first find a planted mistake.
# Usage: sanitize.sh DRIVER_TEST CUDA_TEST, the test binaries of internal/cuda/driver and backend/cuda (go test -c).
set -uo pipefail
driver=$(realpath "$1")
cuda=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
export BURST_REQUIRE_CUDA=1 BURST_SLOW=1

sanitize() { # TOOL
	local tool=$1 run out status verdict=
	run="compute-sanitizer --tool $tool --error-exitcode 9"
	out=$(BURST_PLANT=$tool $run "$driver" -test.run '^TestPlanted$' -test.v 2>&1)
	if grep -q 'ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' <<< "$out" || ! grep -q 'SUMMARY: [1-9]' <<< "$out"; then
		echo "$tool: does not see the planted mistake"
		echo "$out"
		return 1
	fi
	echo "$tool: planted mistake seen: $(grep -m 1 'SUMMARY' <<< "$out")"
	[ $tool = memcheck ] && run="$run --leak-check full"
	[ $tool = racecheck ] && run="compute-sanitizer --tool racecheck --racecheck-report hazard --print-limit 1000000"
	out=$($run "$cuda" -test.run '^(TestEveryKernel|TestExactOnDevice)$' -test.v 2>&1)
	status=$?
	if [ $tool = racecheck ]; then # whose status is the tests' own
		verdict=$(awk -f "$here/racecheck.awk" <<< "$out") || status=1
	fi
	if [ $status != 0 ]; then
		echo "$tool: reports, or the tests fail:"
		tail -n 60 <<< "$verdict"
		grep '^=========' <<< "$out" | head -n 60
		tail -n 60 <<< "$out"
		return 1
	fi
	echo "$tool: $(grep -c -- '--- PASS' <<< "$out") tests, $(grep -m 1 'SUMMARY' <<< "$out"); $verdict"
}

cd "$here" || exit
runs=()
for tool in memcheck racecheck initcheck synccheck; do
	sanitize $tool &
	runs+=($!)
done
bad=0
for r in "${runs[@]}"; do
	wait "$r" || bad=1
done
exit $bad
