package burst_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReliabilityPage: docs/reliability.md has an entry for each of the thirty promises, as `make reliability` would write it, and the
// tests that an entry names exist.
func TestReliabilityPage(t *testing.T) {
	page, err := os.ReadFile("docs/reliability.md")
	require.NoError(t, err)
	words := strings.Join(strings.Fields(string(page)), " ")
	script, err := os.ReadFile(".ci/reliability")
	require.NoError(t, err)
	_, rows, found := strings.Cut(string(script), "<<'ROWS'\n")
	require.True(t, found)
	tests := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)`).FindAllStringSubmatch(string(text), -1) {
			tests[filepath.ToSlash(filepath.Dir(path))+" "+name[1]] = true
		}
		return err
	}))
	for i := range 30 {
		id := fmt.Sprintf("R%d", i+1)
		row := regexp.MustCompile(`(?m)^`+id+`\|(.*)$`).FindAllStringSubmatch(rows, -1)
		require.Len(t, row, 1, id)
		cells := strings.Split(row[0][1], "|")
		want := "- **" + id + "**: " + cells[0] + ". Tests: " + cells[1] + ". Figures: "
		if len(cells) > 2 {
			want += cells[2] + "."
		}
		require.Contains(t, words, want, "run `make reliability`")
		require.Equal(t, 1, strings.Count(string(page), "\n- **"+id+"**: "), id)
		folder := "."
		for _, word := range regexp.MustCompile("`[^`]+`|\\b(?:Test|Fuzz)\\w+").FindAllString(cells[1], -1) {
			if name, quoted := strings.CutPrefix(word, "`"); quoted {
				folder = strings.TrimSuffix(name, "`")
				if info, err := os.Stat(folder); err != nil || !info.IsDir() {
					folder = "." // a command, or a library
				}
				continue
			}
			require.True(t, tests[folder+" "+word], "%s: %s is not in %s", id, word, folder)
		}
	}
}
