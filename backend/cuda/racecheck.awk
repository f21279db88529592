# Reads what compute-sanitizer --tool racecheck --racecheck-report hazard says. It prints hazards and fails, but for those of words that
# racecheck misjudges. Blocks pass the first two kinds by st.release and ld.acquire, which it does not know. Addresses are those of
# compute capability 9.0, where a block's static memory begins at 0x400; of another block of the cluster its number stands above the
# lower 24 bits.
#
#	resident_bursts, cluster_bursts  0x400-0x413  the flags at the beginning of struct resident (kernels/resident.cuh)
#	late, sum and event_bursts       0x400-0x40b  turns_here of kernels/turns.cuh
#	run_bursts                       0x48c-0x493  base and reserved of struct block (kernels/run.cuh)
#	learn_bursts                     0x4a4-0x4ab  the same
#	resident_bursts                  0x4a0-0x4a3  listed of struct resident, written after it is read, which racecheck reports now
#	                                              and then: worker_barrier lies between deliver_listed and meet
function misjudged() {
	if (family == "other") return 0
	if (family == "run") return address ~ /^0x4(8[c-f]|9[0-3])$/
	if (family == "late" || family == "sum" || family == "event") return address ~ /^0x40[0-9ab]$/
	if (family == "learn") return address ~ /^0x4a[4-9ab]$/
	if (family == "resident" && address ~ /^0x4a[0-3]$/) return hazard ~ /Potential WAR hazard/
	return address ~ /^0x([0-9a-f]+000)?4(0[0-9a-f]|1[0-3])$/
}
function decide() {
	if (hazard == "") return
	if (misjudged()) accepted++
	else { refused++; print hazard }
	hazard = ""
}
/hazard detected at __shared__ 0x/ {
	decide()
	hazard = address = $0
	sub(/.*__shared__ /, "", address)
	sub(/ .*/, "", address)
	family = ""
	next
}
hazard != "" && / Thread / {
	hazard = hazard "\n" $0
	found = "other"
	if (match($0, /(resident|cluster|late|sum|event|run|learn)_bursts/)) found = substr($0, RSTART, RLENGTH - 7)
	if (family != "" && family != found) found = "other"
	family = found
}
/RACECHECK SUMMARY/ {
	decide()
	summary = 1
	for (i = 1; i < NF; i++) if ($(i + 1) ~ /^hazards?$/ && $i + 0 != accepted + refused) { print "hazards that are not shown: " $0; refused++ }
}
END {
	decide()
	if (!summary) { print "no summary of racecheck"; exit 1 }
	print accepted + 0 " misjudged accesses, " refused + 0 " hazards"
	exit refused > 0
}
