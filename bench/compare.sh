#!/usr/bin/env bash
# Benchmarks a base revision against the working tree and compares them with benchstat.
# usage: bench/compare.sh BASE "benchstat command"
set -euo pipefail
base=$1 benchstat=$2
top=$(git rev-parse --show-toplevel)
tmp=$(mktemp -d)
trap 'git -C "$top" worktree remove --force "$tmp/base" 2>/dev/null; rm -rf "$tmp"' EXIT
git -C "$top" worktree add --quiet --detach "$tmp/base" "$base"
pattern=${PATTERN:-Burst/net=burst-100k}
count=${COUNT:-6}
for round in $(seq "$count"); do # alternate, so that both sides see the same machine
	(cd "$tmp/base" && go test -run '^$' -bench "$pattern" -count 1 ./bench) >>"$tmp/old.txt"
	(cd "$top" && go test -run '^$' -bench "$pattern" -count 1 ./bench) >>"$tmp/new.txt"
	echo "round $round of $count done" >&2
done
$benchstat "$tmp/old.txt" "$tmp/new.txt"
