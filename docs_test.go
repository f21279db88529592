package burst_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"burst/checkpoint"
	"burst/internal/slow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documents lists the Markdown files of the repository. Raw output of measurements is not among them.
func documents(t *testing.T) []string {
	var files []string
	require.NoError(t, filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (path == filepath.Join("bench", "results") || path != "." && strings.HasPrefix(path, ".")) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			files = append(files, path)
		}
		return nil
	}))
	require.Greater(t, len(files), 20)
	return files
}

// TestWidth: no line of a document is longer than 120 characters, so that it can be read in an editor.
func TestWidth(t *testing.T) {
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 120, "%s:%d", file, i+1)
		}
	}
}

// TestChangelogOnce: no two items of the changelog begin alike, as two versions of one item would after a careless merge.
func TestChangelogOnce(t *testing.T) {
	text, err := os.ReadFile("CHANGELOG.md")
	require.NoError(t, err)
	items := map[string]bool{}
	for _, item := range regexp.MustCompile(`(?m)^- .{1,70}`).FindAllString(string(text), -1) {
		assert.False(t, items[item], "CHANGELOG.md has two items that begin with %q, want one", item)
		items[item] = true
	}
	require.Greater(t, len(items), 100)
}

// TestLinks: the files and headings that the documents link to are there.
func TestLinks(t *testing.T) {
	headings := func(file string) map[string]bool {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		names := map[string]bool{}
		for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
			names[strings.ReplaceAll(regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
		}
		return names
	}
	links := 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(string(text), -1) {
			to, heading, _ := strings.Cut(link[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			path := file
			if to != "" {
				path = filepath.Join(filepath.Dir(file), to)
			}
			_, err := os.Stat(path)
			require.NoError(t, err, "%s links to %s", file, link[1])
			require.True(t, heading == "" || headings(path)[heading], "%s links to %s", file, link[1])
			links++
		}
	}
	require.Greater(t, links, 30)
}

// TestEmbedding: the programs of docs/embedding.md run in a module of their own and print what stands there.
func TestEmbedding(t *testing.T) {
	slow.Short(t)
	page, err := os.ReadFile("docs/embedding.md")
	require.NoError(t, err)
	network := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(page))
	programs := regexp.MustCompile("(?s)```go\n(.*?)```.*?```\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, network, 2)
	require.Len(t, programs, 2)
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"reflex.yaml": network[1], "go.mod": "module example.org/mine\n\ngo 1.26.0\n", "go.work": fmt.Sprintf("go 1.26.0\n\nuse (\n\t.\n\t%q\n)\n", here),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, program := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program[1]), 0o600))
		run := exec.Command("go", "run", "-ldflags=-s -w", ".") // linked in half the time
		run.Dir = dir
		run.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
		out, err := run.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, program[2], string(out))
	}
	for _, file := range []string{"spikes.parquet", "rates.csv", "checkpoints/" + checkpoint.Name(1000)} {
		require.FileExists(t, filepath.Join(dir, "runs", "reflex-1", file))
	}
}
