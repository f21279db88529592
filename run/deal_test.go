package run

import (
	"strings"
	"testing"

	"burst/engine"

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
	require.ErrorIs(t, err, engine.ErrUnavailable)
}
