package burst_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinks: the files and headings that the documents link to are there.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("*.md")
	require.NoError(t, err)
	more, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
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
	for _, file := range append(files, more...) {
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

// TestEmbedding: the program of docs/embedding.md runs in a module of its own and prints what stands there.
func TestEmbedding(t *testing.T) {
	page, err := os.ReadFile("docs/embedding.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```.*?```\n(.*?)```").FindStringSubmatch(string(page))
	require.Len(t, blocks, 3)
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": blocks[1], "go.mod": "module example.org/mine\n\ngo 1.26.0\n", "go.work": fmt.Sprintf("go 1.26.0\n\nuse (\n\t.\n\t%q\n)\n", here),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := exec.Command("go", "run", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, blocks[2], string(out))
}
