#!/usr/bin/env bash
# Runs the tests of the GPU backend under compute-sanitizer's four tools, each of which must first find a planted mistake.
# Usage: sanitize.sh DRIVER_TEST CUDA_TEST, the test binaries of internal/cuda/driver and backend/cuda (go test -c).
set -uo pipefail
driver=$(realpath "$1")
cuda=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
export BURST_REQUIRE_CUDA=1 BURST_SLOW=1
bad=0
for tool in memcheck racecheck initcheck synccheck; do
	run="compute-sanitizer --tool $tool --error-exitcode 9"
	out=$(BURST_PLANT=$tool $run "$driver" -test.run '^TestPlanted$' -test.v 2>&1)
	if grep -q 'ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' <<< "$out" || ! grep -q 'SUMMARY: [1-9]' <<< "$out"; then
		echo "$tool: does not see the planted mistake"
		echo "$out"
		bad=1
		continue
	fi
	echo "$tool: planted mistake seen: $(grep -m 1 'SUMMARY' <<< "$out")"
	[ $tool = memcheck ] && run="$run --leak-check full"
	[ $tool = racecheck ] && run="compute-sanitizer --tool racecheck --racecheck-report hazard --print-limit 1000000"
	for tests in 'OnDevice|TestTuning|TestUnevenRows' '^TestPaths$/^(teams|clusters)'; do # whose small networks teams and clusters run by force
		out=$($run "$cuda" -test.short -test.run "$tests" 2>&1)
		status=$? verdict=
		if [ $tool = racecheck ]; then # whose status is the tests' own
			verdict=$(awk -f "$here/racecheck.awk" <<< "$out") || status=1
		fi
		if [ $status = 0 ]; then
			echo "$tool, $tests: $(grep -m 1 'SUMMARY' <<< "$out"); $verdict"
		else
			echo "$tool, $tests: reports, or the tests fail:"
			tail -n 60 <<< "$verdict"
			tail -n 60 <<< "$out"
			bad=1
		fi
	done
done
exit $bad
