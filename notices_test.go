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

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// notices is the file of notices that the program carries, compressed, and prints.
const notices = "cmd/burst/notices.txt.zst"

var update = flag.Bool("update", false, "write "+notices)

// noticesHead comes before the modules' own texts.
const noticesHead = `burst holds the modules below, the library of Go, and a font. Their licences allow that, and ask for what follows: copyright
notices, licences and disclaimers. Portions of this software are copyright © The FreeType Project (www.freetype.org). All
rights reserved. svgo, by Anthony Starks, is used unchanged under CC-BY-4.0. Liberation Sans is used unchanged under the SIL
Open Font License.
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
	program := program(t)
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
	asked := []string{"list", "-m", "-f", "{{.Dir}}"}
	for _, m := range info.Deps {
		asked = append(asked, m.Path)
	}
	list, err := exec.Command("go", asked...).Output()
	require.NoError(t, err)
	dirs := strings.Split(strings.TrimSpace(string(list)), "\n")
	require.Len(t, dirs, len(info.Deps))
	for i, m := range info.Deps {
		texts := noticesOf(t, dirs[i])
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
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(notices, w.EncodeAll([]byte(b.String()), nil), 0o644))
	}
	packed, err := os.ReadFile(notices)
	require.NoError(t, err)
	r, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer r.Close()
	have, err := r.DecodeAll(packed, nil)
	require.NoError(t, err)
	require.True(t, string(have) == b.String(), "%s is not of the modules in the program; run `go test . -run TestR30Notices -update`", notices)
	out, err := exec.Command(program, "version", "--notices").Output()
	require.NoError(t, err)
	require.True(t, string(have) == string(out))
	t.Logf("R30: the program prints the notices of its %d modules, %d KiB", len(info.Deps), len(have)>>10)
}
