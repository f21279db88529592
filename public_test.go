package burst_test

import (
	"os"
	"os/exec"
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
	out, err := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...").Output()
	require.NoError(t, err)
	var public []string
	for line := range strings.Lines(string(out)) {
		kind, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, below := strings.CutPrefix(path, "burst/")
		if below && kind != "main" && !slices.Contains(strings.Split(name, "/"), "internal") {
			public = append(public, name)
		}
	}
	slices.Sort(public)
	return public
}

// TestYAMLBehindGenome: package genome alone imports the YAML library, tests included, so that another one takes its place there.
func TestYAMLBehindGenome(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./...").Output()
	require.NoError(t, err)
	var users []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if slices.ContainsFunc(fields[1:], func(path string) bool { return strings.Contains(path, "yaml") && strings.Contains(path, ".") }) {
			users = append(users, fields[0])
		}
	}
	require.Equal(t, []string{"burst/genome"}, users)
}
