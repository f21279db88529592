package cuda

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hazard is what racecheck says of one, at an address and by a kernel.
func hazard(at, kernel string) string { return hazardOf("RAW", at, kernel) }

func hazardOf(kind, at, kernel string) string {
	return "========= Error: Potential " + kind + " hazard detected at __shared__ " + at + " in block (0,0,0) :\n" +
		"=========     Write Thread (991,0,0) at 0x4b20 in " + kernel + "\n" +
		"=========     Read Thread (992,0,0) at 0x5cd0 in " + kernel + "\n" +
		"=========     Current Value : 0, Incoming Value : 1\n=========\n"
}

// TestRacecheckFilter: hazards are accepted of words that racecheck misjudges alone, of the kernels that have them, and where all are shown.
func TestRacecheckFilter(t *testing.T) {
	const flag, data = "0x40c", "0x414"
	summary := func(n string) string {
		return "========= RACECHECK SUMMARY: " + n + " hazards displayed (0 errors, 0 warnings)\n"
	}
	for _, v := range []struct {
		text, want string
		good       bool
	}{
		{"PASS\n" + summary("0"), "0 misjudged accesses, 0 hazards", true},
		{hazard(flag, "resident_bursts_lif") + hazard("0x400", "cluster_bursts") + "PASS\n" + summary("2"), "2 misjudged accesses, 0 hazards", true},
		{hazard(flag, "resident_bursts") + hazard(data, "resident_bursts") + summary("2"), "at __shared__ 0x414", false},
		{hazard("0x4000", "resident_bursts") + summary("1"), "at __shared__ 0x4000", false},
		{hazard("0x40", "resident_bursts") + summary("1"), "at __shared__ 0x40 ", false},
		{hazard(flag, "run_bursts_lif") + summary("1"), "at __shared__ 0x40c", false},
		{hazard(flag, "resident_bursts") + summary("2"), "hazards that are not shown", false},
		{hazard(flag, "resident_bursts"), "no summary", false},
		{hazard("0x48c", "run_bursts_custom") + hazard("0x493", "run_bursts") + hazard("0x4a4", "learn_bursts") + hazard("0x4ab", "learn_bursts_all") + summary("4"), "4 misjudged accesses, 0 hazards", true},
		{hazard("0x494", "run_bursts") + summary("1"), "at __shared__ 0x494", false},
		{hazard("0x490", "learn_bursts") + summary("1"), "at __shared__ 0x490", false},
		{hazard("0x4a8", "run_bursts") + summary("1"), "at __shared__ 0x4a8", false},
		{hazardOf("WAR", "0x4a0", "resident_bursts_lif") + summary("1"), "1 misjudged accesses, 0 hazards", true},
		{hazard("0x4a0", "resident_bursts") + summary("1"), "at __shared__ 0x4a0", false},
		{hazard("0x408", "late_bursts_lif") + hazard("0x404", "event_bursts") + hazard("0x400", "sum_bursts_lif") + summary("3"), "3 misjudged accesses, 0 hazards", true},
		{hazard("0x40c", "event_bursts") + summary("1"), "at __shared__ 0x40c", false},
		{hazardOf("WAR", "0x4a0", "cluster_bursts") + summary("1"), "at __shared__ 0x4a0", false},
	} {
		c := exec.Command("awk", "-f", "racecheck.awk")
		c.Stdin = strings.NewReader(v.text)
		out, err := c.CombinedOutput()
		require.Equal(t, v.good, err == nil, "%s\n%s", v.text, out)
		require.Contains(t, string(out), v.want)
	}
}
