package burst_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlowTestsRun: every test that `make test` cuts short by package slow is named by a target of the Makefile, all those targets are
// test-slow's, and CI makes it.
func TestSlowTestsRun(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	_, targets, found := strings.Cut(regexp.MustCompile(`(?m)^test-slow:.*## `).FindString(string(text)), ":")
	require.True(t, found)
	named := map[string]bool{} // "./package Test"
	for _, rule := range regexp.MustCompile(`(?m)^([a-z-]+):.*\n((?:\t\$\(SLOWLY\) .*\n)+)`).FindAllStringSubmatch(string(text), -1) {
		require.Contains(t, strings.Fields(targets), rule[1], "test-slow does not make it")
		for _, line := range regexp.MustCompile(`\) (\S+) -run '\^(\S+)\$\$'`).FindAllStringSubmatch(rule[2], -1) {
			for name := range strings.SplitSeq(strings.Trim(line[2], "()"), "|") {
				named[line[1]+" "+name] = true
			}
		}
	}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		if !imports(file, "burst/internal/slow") && !imports(file, "burst/engine/enginetest") {
			return nil
		}
		folder := "./" + filepath.ToSlash(filepath.Dir(path))
		if folder == "./." {
			folder = "."
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name == "TestMain" || !mentions(f, "slow") && (!runsSuite(f) || strings.Contains(f.Name.Name, "OnDevice")) { // make test-gpu runs the latter
				continue
			}
			key := folder + " " + f.Name.Name
			require.True(t, named[key], "no target of the Makefile runs %s in full", key)
			delete(named, key)
		}
		return nil
	}))
	require.Empty(t, named, "targets of the Makefile name tests that are not slow")
	ci, err := os.ReadFile(".ci/run")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^make (-\S+ )*test-slow\b`, string(ci))
}

// TestLeftOutTestsExist: every name of a test that the Makefile leaves out, of the race detector or of another processor, is that of one.
func TestLeftOutTestsExist(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	there := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllSubmatch(source, -1) {
			there[string(name[1])] = true
		}
		return err
	}))
	lists := regexp.MustCompile(`(?m)^(COUNTING|PLAIN|KERNELS|STARTING|FEWER) = (.+)`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, lists, 5)
	for _, list := range lists {
		for _, name := range regexp.MustCompile(`\bTest\w+`).FindAllString(list[2], -1) {
			require.True(t, there[name], "%s names %s, which is no test", list[1], name)
		}
	}
}

// imports says whether a file imports a package.
func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(path) })
}

// runsSuite says whether a function runs the conformance suite, of which make test has a third of the networks.
func runsSuite(f *ast.FuncDecl) bool {
	runs := false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			runs = runs || ok && x.Name == "enginetest" && (s.Sel.Name == "Run" || s.Sel.Name == "RunStatic")
		}
		return true
	})
	return runs
}

// mentions says whether a function names something of a package.
func mentions(f *ast.FuncDecl, of string) bool {
	seen := false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == of && s.Sel.Name != "Short" { // which make test does run
				seen = true
			}
		}
		return true
	})
	return seen
}
