#!/usr/bin/env bash
# Proves and measures networks on several GPUs of one host, on one, two, four and eight of them as far as there are: the digests
# of all examples; weak and strong scaling with the time of the exchange; a run on all that is killed and goes on on all, on half,
# on one and on the CPU; ten billion synapses a GPU. In some ten minutes on eight.
# usage: [MAX_MEMORY=500GiB] bench/gpu-scaling.sh BURST FOLDER [digests|scaling|resume|large ...]
set -uo pipefail
burst=$(realpath "$1") out=$2 failed=0
shift 2
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpus=$("$burst" devices --json | grep -c '"usable": true')
[ "$gpus" -gt 0 ] || { echo "no GPU that burst can use: burst devices says why" >&2; exit 1; }
first() { seq -s, 0 $(($1 - 1)); } # first N: so many devices
all=$(first "$gpus")

fail() { echo "FAILED: $*" && failed=1; }

digests() { timeout -s KILL 240 "$burst" bench --backend cuda --devices all --suite digests --json > "$out/digests.json" || fail digests; }

scaling() { timeout -s KILL 560 "$burst" bench --backend cuda --devices all --suite scaling --json > "$out/scaling.json" || fail scaling; }

# A run is killed once it has saved a checkpoint; copies of its folder must go on to the digest of a run that nobody stopped.
resume() {
	local network=(potjans-diesmann-10 --bursts 300000) folder=$work/killed saved want how
	"$burst" run "${network[@]}" --backend cuda --device 0 --no-out --quiet > "$work/whole" || fail the whole run
	want=$(grep -oE '[0-9a-f]{16}' "$work/whole")
	"$burst" run "${network[@]}" --backend cuda --devices "$all" --checkpoint-every 50000 --out "$folder" --quiet &
	until saved=$(ls "$folder/checkpoints" 2> /dev/null | grep '\.checkpoint$') || ! kill -0 $! 2> /dev/null; do sleep 0.01; done
	kill -KILL $! 2> /dev/null || { fail "the run on $gpus devices ended before it was killed"; return; }
	wait $! 2> /dev/null
	echo "killed on $gpus devices, having saved $saved; whole: $want" | tee "$out/resume.txt"
	for how in "--backend cuda --devices $all" "--backend cuda --devices $(first $(((gpus + 1) / 2)))" "--backend cuda --device 0" "--backend cpu"; do
		cp -r "$folder" "$work/copy"
		timeout -s KILL 120 "$burst" resume "$work/copy" $how --expect-digest "$want" --quiet > "$work/rest" || fail "resume $how"
		echo "$how: $(cat "$work/rest")" | tee -a "$out/resume.txt"
		rm -rf "$work/copy"
	done
}

# The network of --suite scaling, with ten million neurons a device.
large() {
	cat > "$work/large.yaml" <<-GENOME
		burst: v1
		name: scaling-$((10 * gpus))
		seed: 1
		timestep: 0.1 ms
		scale: 1000000
		areas:
		  - {name: E, neurons: $((8000000 * gpus)), model: lif, params: {tau: 100 ms, rest: 0 mV, reset: 19.9167 mV, threshold: 20 mV, refractory: 2 ms}, drive: {constant: 21 mV}, init: {V: "uniform(19.8948 mV, 20 mV)"}}
		  - {name: I, neurons: $((2000000 * gpus)), model: lif, params: {tau: 100 ms, rest: 0 mV, reset: 19.9167 mV, threshold: 20 mV, refractory: 2 ms}, drive: {constant: 21 mV}, init: {V: "uniform(19.8948 mV, 20 mV)"}}
		projections:
		  - {from: E, to: E, rule: fixed_outdegree, outdegree: 800, weight: 5e-05 mV}
		  - {from: E, to: I, rule: fixed_outdegree, outdegree: 200, weight: 5e-05 mV}
		  - {from: I, to: E, rule: fixed_outdegree, outdegree: 800, weight: -0.0002 mV}
		  - {from: I, to: I, rule: fixed_outdegree, outdegree: 200, weight: -0.0002 mV}
	GENOME
	timeout -s KILL 560 "$burst" run "$work/large.yaml" --backend cuda --devices "$all" --bursts 200 ${MAX_MEMORY:+--max-memory "$MAX_MEMORY"} --no-out --json > "$out/large.json" || fail large
}

[ $# -gt 0 ] || set -- digests scaling resume large
for part in "$@"; do
	case $part in
	digests | scaling | resume | large) $part ;;
	*) fail "$part: want digests, scaling, resume or large" ;;
	esac
	echo "== $part, $SECONDS s"
done
exit $failed
