package burst_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublicSignatures: whoever uses a public package can name every type of its functions, methods and fields. An alias
// gives a type of an internal package a public name.
func TestPublicSignatures(t *testing.T) {
	for _, name := range publicPackages(t) {
		files, err := filepath.Glob(filepath.Join(name, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, found := range internalTypes(t, path, text) {
				t.Error(found)
			}
		}
	}
}

func TestInternalTypesAreFound(t *testing.T) {
	const head = "package p\nimport \"burst/internal/other\"\n"
	for text, want := range map[string]int{
		"func F(a other.T) {}": 1,
		"func f(a other.T) {}": 0,
		"type S struct { A []other.T; b other.T; C func() other.T }": 2,
		"type s struct { A other.T }":                                0,
		"type I interface { M() *other.T; m(other.T) }":              1,
		"func (s *S) M() map[int]other.T { return nil }":             1,
		"func (s *s) M() other.T { return nil }":                     0,
		"var V other.T; const c other.T = 1":                         1,
		"func F() { var _ other.T }":                                 0,
	} {
		require.Len(t, internalTypes(t, "p.go", []byte(head+text)), want, text)
	}
}

// internalTypes lists the types of internal packages that a file's exported declarations name.
func internalTypes(t *testing.T, path string, text []byte) (found []string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	internal := map[string]bool{}
	for _, i := range file.Imports {
		if p := strings.Trim(i.Path.Value, `"`); strings.Contains(p, "internal/") {
			internal[filepath.Base(p)] = true
		}
	}
	var look func(n ast.Node)
	look = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if len(n.Names) == 0 || !n.Names[0].IsExported() { // embedded in a struct or an interface, or private there
					return false
				}
			case *ast.FuncType: // whose parameters have names of any kind
				for _, list := range []*ast.FieldList{n.Params, n.Results} {
					if list != nil {
						for _, f := range list.List {
							look(f.Type)
						}
					}
				}
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && internal[x.Name] {
					found = append(found, fset.Position(n.Pos()).String()+": "+x.Name+"."+n.Sel.Name)
				}
			}
			return true
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || receiver(d).IsExported()) {
				look(d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && !s.Assign.IsValid() {
						look(s.Type)
					}
				case *ast.ValueSpec:
					if s.Names[0].IsExported() && s.Type != nil {
						look(s.Type)
					}
				}
			}
		}
	}
	return found
}

// receiver is the type of a method's receiver.
func receiver(d *ast.FuncDecl) (name *ast.Ident) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if i, ok := n.(*ast.Ident); ok && name == nil {
			name = i
		}
		return name == nil
	})
	return name
}
