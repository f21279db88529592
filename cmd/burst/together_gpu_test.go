package main

import (
	"encoding/json"
	"strings"
	"testing"

	"burst/exchange/nccl/nccltest"

	"github.com/stretchr/testify/require"
)

// TestAssign deals the GPUs of one host, by the lists that its processes see.
func TestAssign(t *testing.T) {
	for _, c := range []struct {
		name   string
		sees   string // a word a process, a letter a GPU
		want   []int
		enough int
	}{
		{"all see all: by rank", "abc abc abc", []int{0, 1, 2}, 3},
		{"more GPUs than processes", "abcd abcd", []int{0, 1}, 2},
		{"each is shown its own", "a b c", []int{0, 0, 0}, 3},
		{"each is shown its own, numbered anew", "ba ab", []int{0, 0}, 2},
		{"two sockets", "ab ab cd cd", []int{0, 1, 0, 1}, 4},
		{"the second sees only the first's", "ab a", []int{1, 0}, 2},
		{"one gives way to one that gives way", "ab ac a", []int{1, 1, 0}, 3},
		{"fewer GPUs than processes", "ab ab ab", []int{0, 1, -1}, 2},
		{"all are shown the same one", "a a", []int{0, -1}, 1},
		{"as many GPUs, but not for these", "a a abc", []int{0, -1, 1}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sees [][]string
			for word := range strings.FieldsSeq(c.sees) {
				sees = append(sees, strings.Split(word, ""))
			}
			own, enough := assign(sees)
			require.Equal(t, c.want, own)
			require.Equal(t, c.enough, enough)
		})
	}
}

// TestDealGPUs: what hosts have is theirs alone, ranks may be spread over them in any order, and who was named a GPU has no part in it.
func TestDealGPUs(t *testing.T) {
	sights := func(text string) (list []sight) {
		for word := range strings.FieldsSeq(text) { // such as 0:ab
			host, gpus, _ := strings.Cut(word, ":")
			s := sight{host: host, name: "host" + host}
			if gpus != "" {
				s.gpus = strings.Split(gpus, "")
			}
			list = append(list, readSight(s.words()))
		}
		return list
	}
	for text, want := range map[string][]int{
		"0:ab 0:ab 2:ab 2:ab": {0, 1, 0, 1}, // ranks by host
		"0:ab 1:ba 0:ab 1:ba": {0, 0, 1, 1}, // and by turns
		"0:a 0: 0: 3:a":       {0, 0, 0, 0}, // two were named theirs
		"0: 0:ab 0:ab":        {0, 0, 1},
	} {
		taken, err := dealGPUs(sights(text))
		require.NoError(t, err, text)
		require.Equal(t, want, taken, text)
	}
	_, err := dealGPUs(sights("0:ab 1:ab 1:ab 0:ab 1:ab 5:a 5:a"))
	require.EqualError(t, err, "backend not available on this machine: 3 processes on host1 want a GPU each, and see 2 in all, enough for 2; "+
		"start no more than 2 there, or let them share on purpose: --devices all")
	require.Equal(t, exitDevice, exitCode(err))
}

// TestOneGPUEach starts processes that are told nothing of GPUs: each takes one of its own, or nothing is built.
func TestOneGPUEach(t *testing.T) {
	nccltest.Host(t, 1)
	code, want, stderr := call("run", "quickstart", "--bursts", "40", "--no-out", "--quiet", "--backend", "cpu")
	require.Zero(t, code, stderr)
	tiny := []string{"--max-memory", "100kB"} // building would end with exitLimit
	for _, c := range []struct {
		name, launcher string
		processes      int
		control        string // of the stand-in
		env            []string
		args           []string
		code           int
		says           string
	}{
		{"as many as processes", openMPI, 3, "devices=3", nil, nil, exitOK, "3 parts joined by NCCL"},
		{"as many as processes", mpich, 2, "devices=2", nil, nil, exitOK, "2 parts joined by NCCL"},
		{"shown one each", openMPI, 2, "devices=1 hidden=$OMPI_COMM_WORLD_LOCAL_RANK", nil, nil, exitOK, "2 parts joined by NCCL"},
		{"one for two", openMPI, 2, "devices=1", nil, tiny, exitDevice, "want a GPU each, and see 1 in all, enough for 1; start no more than 1 there"},
		{"one for two", mpich, 2, "devices=1", nil, tiny, exitDevice, "2 processes on "},
		{"one for two, on two hosts", mpich, 2, "devices=1", []string{"MPIR_CVAR_ODD_EVEN_CLIQUES=1"}, nil, exitOK, "2 parts joined by MPI"},
		{"one for two, on purpose", openMPI, 2, "devices=1", nil, []string{"--device", "0"}, exitOK, "2 parts joined by MPI"},
		{"none", mpich, 2, "devices=0", nil, tiny, exitDevice, "no NVIDIA GPU that the driver can use"},
		{"none of use", mpich, 2, "devices=2 capability=61", nil, tiny, exitDevice, "compute capability 6.1, want 7.5"},
	} {
		t.Run(c.name+" "+c.launcher, func(t *testing.T) {
			code, stdout, stderr := launch(t, c.launcher, c.processes, append(c.env, hostControl+"="+c.control),
				append([]string{"run", "quickstart", "--bursts", "40", "--no-out", "--json", "--backend", "cuda"}, c.args...)...)
			require.Equal(t, c.code, code, stderr)
			if c.code != exitOK {
				require.Contains(t, stderr, c.says)
				require.Equal(t, 1, strings.Count(stderr, "burst: "), stderr)
				return
			}
			var r result
			require.NoError(t, json.Unmarshal([]byte(stdout), &r), stdout)
			require.Equal(t, want, r.Digest+"\n")
			require.Contains(t, r.Device, c.says, stderr)
		})
	}
}
