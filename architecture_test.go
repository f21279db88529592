package burst_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// row is a line of ARCHITECTURE.md's table of packages.
type row struct {
	packages, libraries []string
}

// packageTable reads that table.
func packageTable(t *testing.T) []row {
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Packages\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []row
	for _, cells := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\| ([^|]+) \\|([^|]*)\\|$").FindAllStringSubmatch(section, -1) {
		var r row
		for _, name := range strings.Split(cells[1], ", ") {
			r.packages = append(r.packages, strings.Trim(name, "`"))
		}
		if libraries := strings.TrimSpace(cells[3]); libraries != "" {
			r.libraries = strings.Split(libraries, ", ")
		}
		rows = append(rows, r)
	}
	require.Equal(t, strings.Count(section, "\n| `"), len(rows), "all rows can be read")
	return rows
}

// of reports whether an import is of a library, which is named by a part of its path: x/sys for golang.org/x/sys/cpu.
func of(path, library string) bool { return strings.Contains("/"+path+"/", "/"+library+"/") }

// TestArchitecture holds ARCHITECTURE.md's table and the code to each other: all packages are there, each imports only packages named
// before it and libraries of its row, and every library of a row is imported. So the flow genome -> connectome -> engine -> backends ->
// command is one-way.
func TestArchitecture(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range packages(t) {
		if name, ok := strings.CutPrefix(p.ImportPath, "burst/"); ok { // the root holds only tests
			imports[name] = p.Imports
		}
	}
	backends := []string{"backend/reference", "backend/cpu", "backend/cuda", "internal/split"}
	named := map[string]bool{}
	for _, r := range packageTable(t) {
		used := map[string]bool{}
		for _, name := range r.packages {
			require.Contains(t, imports, name, "ARCHITECTURE.md names a package that there is not")
			require.False(t, named[name], "%s is named twice", name)
			for _, path := range imports[name] {
				p, ours := strings.CutPrefix(path, "burst/")
				domain, _, _ := strings.Cut(path, "/")
				switch i := slices.IndexFunc(r.libraries, func(l string) bool { return of(path, l) }); {
				case ours:
					require.True(t, named[p], "%s imports %s, which is not named before it", name, p)
					require.False(t, slices.Contains(backends, name) && slices.Contains(backends, p), "%s imports %s: no backend imports another", name, p)
				case i >= 0:
					used[r.libraries[i]] = true
				default:
					require.NotContains(t, domain, ".", "%s imports %s, which is not in its row", name, path)
				}
			}
			named[name] = true
		}
		for _, library := range r.libraries {
			require.True(t, used[library], "no package of %v imports %s", r.packages, library)
		}
	}
	for name := range imports {
		require.True(t, named[name], "ARCHITECTURE.md names no package %s", name)
	}
}
