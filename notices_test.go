package burst_test

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notices is the file of notices that the program carries and prints.
const notices = "cmd/burst/notices.txt"

var update = flag.Bool("update", false, "write "+notices)

// noticesHead comes before the modules' own texts.
const noticesHead = `burst holds the modules below, the library of Go, and fonts. Their licences allow that, and ask for what follows: copyright
notices, licences and disclaimers. Portions of this software are copyright © The FreeType Project (www.freetype.org). All
rights reserved. svgo, by Anthony Starks, is used unchanged under CC-BY-4.0. The Liberation fonts are used unchanged under
the SIL Open Font License.
`

// noticeFiles are the texts in a module's folder that go with it; of a choice between FTL and GPL it is the first.
var noticeFiles = regexp.MustCompile(`(?i)^((licen[cs]e|copying|notice|patents|authors)[^/]*|(third_party_)?licenses/[^/]*)$`)

// noticesOf gathers the texts in dir.
func noticesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && strings.Count(path, "/") > 0 {
			return fs.SkipDir
		}
		if !e.IsDir() && noticeFiles.MatchString(path) && e.Name() != "gpl.txt" {
			text, err := os.ReadFile(filepath.Join(dir, path))
			texts[path] = strings.ReplaceAll(strings.TrimSpace(string(text)), "\r\n", "\n")
			return err
		}
		return nil
	}))
	return texts
}

// TestR30Notices: the program prints the licence and the notices of every module in it, and of Go and the data it ships.
func TestR30Notices(t *testing.T) {
	program := filepath.Join(t.TempDir(), "burst")
	build(t, ".", program)
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString(noticesHead)
	before := map[string]string{}
	add := func(name, path, text string) {
		fmt.Fprintf(&b, "\n==== %s: %s\n\n", name, path)
		if first, same := before[text]; same {
			fmt.Fprintf(&b, "The same text as of %s.\n", first)
			return
		}
		before[text] = name
		b.WriteString(text + "\n")
	}
	for _, m := range info.Deps {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m.Path).Output()
		require.NoError(t, err, m.Path)
		texts := noticesOf(t, strings.TrimSpace(string(dir)))
		require.NotEmpty(t, texts, m.Path)
		for _, path := range slices.Sorted(maps.Keys(texts)) {
			add(m.Path+" "+m.Version, path, texts[path])
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	for _, of := range [][2]string{{"Go", filepath.Join(strings.TrimSpace(string(root)), "LICENSE")}, {"the data of the example c-elegans", "genomes/c-elegans.LICENSE"}} {
		text, err := os.ReadFile(of[1])
		require.NoError(t, err)
		add(of[0], "LICENSE", strings.TrimSpace(string(text)))
	}
	if *update {
		require.NoError(t, os.WriteFile(notices, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(notices)
	require.NoError(t, err)
	require.True(t, string(have) == b.String(), "%s is not of the modules in the program; run `go test . -run TestR30Notices -update`", notices)
	out, err := exec.Command(program, "version", "--notices").Output()
	require.NoError(t, err)
	require.Equal(t, len(have), len(out))
	t.Logf("R30: the program prints the notices of its %d modules, %d KiB", len(info.Deps), len(have)>>10)
}
