package burst_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublicPackages holds ARCHITECTURE.md's list of public packages and the code to each other, so that a further one is a decision.
func TestPublicPackages(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Public packages\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	_, list, found := strings.Cut(section, "\n- ")
	require.True(t, found)
	var written []string
	for _, name := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(list, -1) {
		written = append(written, name[1])
	}
	require.Equal(t, publicPackages(t), written, "the first are the public packages that there are, the second those of ARCHITECTURE.md")
}

// publicPackages lists the packages that programs outside this module can import.
func publicPackages(t *testing.T) []string {
	var public []string
	for _, p := range packages(t) {
		name, below := strings.CutPrefix(p.ImportPath, "burst/")
		if below && p.Name != "main" && !slices.Contains(strings.Split(name, "/"), "internal") {
			public = append(public, name)
		}
	}
	slices.Sort(public)
	return public
}

// TestYAMLBehindGenome: package genome alone imports the YAML library, tests included, so that another one takes its place there.
func TestYAMLBehindGenome(t *testing.T) {
	var users []string
	for _, p := range packages(t) {
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		if slices.ContainsFunc(imports, func(path string) bool { return strings.Contains(path, "yaml") && strings.Contains(path, ".") }) {
			users = append(users, p.ImportPath)
		}
	}
	require.Equal(t, []string{"burst/genome"}, users)
}
