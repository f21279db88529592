# Reads what compute-sanitizer --tool racecheck --racecheck-report hazard says. It prints hazards and fails, but for those of the flags of one
# word that resident_bursts and cluster_bursts pass by st.release and ld.acquire, which racecheck takes for hazards: the first five words
# of struct resident (kernels/resident.cuh), which is where the blocks' static memory begins on compute capability 9.0; of another block of
# the cluster its number stands above the lower 24 bits.
function decide() {
	if (hazard == "") return
	if (flag && kernel && !other) accepted++
	else { refused++; print hazard }
	hazard = ""
}
/hazard detected at __shared__ 0x/ {
	decide()
	hazard = $0
	flag = $0 ~ /__shared__ 0x([0-9a-f]+000)?4(0[0-9a-f]|1[0-3])[^0-9a-f]/
	kernel = other = 0
	next
}
hazard != "" && / Thread / {
	hazard = hazard "\n" $0
	if ($0 ~ /(resident|cluster)_bursts/) kernel = 1
	else other = 1
}
/RACECHECK SUMMARY/ {
	decide()
	summary = 1
	for (i = 1; i < NF; i++) if ($(i + 1) ~ /^hazards?$/ && $i + 0 != accepted + refused) { print "hazards that are not shown: " $0; refused++ }
}
END {
	decide()
	if (!summary) { print "no summary of racecheck"; exit 1 }
	print accepted + 0 " accesses to flags, " refused + 0 " hazards"
	exit refused > 0
}
