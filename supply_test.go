package burst_test

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

var (
	long = flag.Bool("long", false, "build with an empty cache, and verify the downloaded modules")
	sbom = flag.String("sbom", "", "write the program's modules to this file, in CycloneDX 1.5")
)

// licences are those that modules of the program may have, with a sentence that only they contain. The order matters: BSD
// with three clauses contains that with two.
var licences = []struct{ name, text string }{
	{"Apache-2.0", `Apache License\s+Version 2\.0, January 2004`},
	{"MIT", `Permission is hereby granted, free of charge, to any person obtaining a copy`},
	{"BSD-3-Clause", `Neither the names? of .{1,120} may be used to endorse or promote`},
	{"BSD-2-Clause", `Redistributions in binary form must reproduce the above copyright notice`},
	{"CC-BY-4.0", `Creative Commons Attribution 4\.0 International`},
	{"OFL-1.1", `SIL OPEN FONT LICENSE Version 1\.1`},
	{"FTL", `The FreeType License, which is similar to the original BSD license`}, // a choice, whose other is the GPL
	{"ISC", `Permission to use, copy, modify, and(/or)? distribute this software for any`},
}

// licenceOf names the licences in a module's folder.
func licenceOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	var found []string
	for _, path := range files {
		if !regexp.MustCompile(`(?i)^(licen[cs]e|copying)`).MatchString(filepath.Base(path)) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a folder of that name
		}
		plain := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "\n>", "\n")), " ") // some quote theirs
		for _, l := range licences {
			if regexp.MustCompile(l.text).MatchString(plain) && !slices.Contains(found, l.name) {
				found = append(found, l.name)
				break
			}
		}
	}
	return found
}

// build makes the program of the tree in dir as `make build` does, by the flags of its line.
func build(dir, out string, env ...string) error {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		return err
	}
	line := regexp.MustCompile(`(?m)^\t\$\(GO\) (build .*) -o bin/burst \./cmd/burst$`).FindSubmatch(text)
	if line == nil {
		return errors.New("Makefile: no line that builds bin/burst")
	}
	cmd := exec.Command("go", append(strings.Fields(string(line[1])), "-buildvcs=false", "-o", out, "./cmd/burst")...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// programs is the folder of the program that all tests here share.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "burst"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(programs)
	os.Exit(code)
}

// buildOnce builds the program for the first test that asks.
var buildOnce = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "burst")
	return path, build(".", path)
})

// program is the path of the program, built from this tree.
func program(t *testing.T) string {
	t.Helper()
	slow.Short(t)
	path, err := buildOnce()
	require.NoError(t, err)
	return path
}

// sumOf is a file's SHA-256.
func sumOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TestR30Reproducible builds the tree here and a copy of it elsewhere: the same bytes.
func TestR30Reproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program twice")
	}
	slow.Test(t)
	files, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("SKIPPED: not a git working tree, so what belongs to the source is not known")
	}
	tmp := t.TempDir()
	elsewhere := filepath.Join(tmp, "some", "where", "else")
	for name := range strings.Lines(string(files)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // removed, not yet committed
		}
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(elsewhere, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(elsewhere, name), text, 0o644))
	}
	var env []string
	cache := "the same cache"
	if *long {
		env, cache = []string{"GOCACHE=" + filepath.Join(tmp, "cache")}, "an empty cache"
		text, err := exec.Command("go", "mod", "verify").CombinedOutput()
		require.NoError(t, err, string(text))
	}
	here, there := sumOf(t, program(t)), filepath.Join(tmp, "b")
	require.NoError(t, build(elsewhere, there, env...))
	require.Equal(t, here, sumOf(t, there))
	t.Logf("R30: built in two folders, the second with %s: one SHA-256, %s…", cache, here[:16])
}

// component is a module in the SBOM.
type component struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	PURL     string `json:"purl"`
	Hashes   []hash `json:"hashes"`
	Licences []any  `json:"licenses"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

// TestR30Modules: every module in the program, as the program itself tells, has a licence on the list; with -sbom they are
// written down.
func TestR30Modules(t *testing.T) {
	info, err := buildinfo.ReadFile(program(t))
	require.NoError(t, err)
	require.Greater(t, len(info.Deps), 10)
	components := []component{}
	for _, m := range info.Deps {
		require.Nil(t, m.Replace, "%s is replaced", m.Path)
		components = append(components, describe(t, m))
	}
	t.Logf("R30: %d modules in the program, each with a licence of the list", len(components))
	if *sbom == "" {
		return
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": map[string]any{"type": "application", "name": "burst"}},
		"components": components,
	}, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(*sbom, append(text, '\n'), 0o644))
}

// describe finds a module's licence and hash.
func describe(t *testing.T, m *debug.Module) component {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m.Path).Output()
	require.NoError(t, err, m.Path)
	names := licenceOf(t, strings.TrimSpace(string(dir)))
	require.NotEmpty(t, names, "%s %s has no licence that is on the list", m.Path, m.Version)
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	require.NoError(t, err)
	c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version), Hashes: []hash{{"SHA-256", hex.EncodeToString(sum)}}}
	for _, name := range names {
		c.Licences = append(c.Licences, map[string]any{"license": map[string]string{"id": name}})
	}
	return c
}
