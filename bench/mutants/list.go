package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// swaps gives what each kind of gremlins' mutations makes of a token. Of %= gremlins makes %= again, which is no mutant.
var swaps = map[string]map[string]string{
	"ARITHMETIC_BASE":       {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"},
	"CONDITIONALS_BOUNDARY": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
	"CONDITIONALS_NEGATION": {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"},
	"INCREMENT_DECREMENT":   {"++": "--", "--": "++"},
	"INVERT_ASSIGNMENTS":    {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "%="},
	"INVERT_BITWISE":        {"&": "|", "|": "&", "^": "&", "&^": "&", "<<": ">>", ">>": "<<"},
	"INVERT_BWASSIGN":       {"&=": "|=", "|=": "&=", "^=": "&=", "&^=": "&=", "<<=": ">>=", ">>=": "<<="},
	"INVERT_LOGICAL":        {"&&": "||", "||": "&&"},
	"INVERT_LOOPCTRL":       {"break": "continue", "continue": "break"},
	"INVERT_NEGATIVES":      {"-": "+"},
	"REMOVE_SELF_ASSIGNMENTS": {"+=": "=", "-=": "=", "*=": "=", "/=": "=", "%=": "=", "&=": "=", "|=": "=", "^=": "=",
		"&^=": "=", "<<=": "=", ">>=": "="},
}

// mutant is one mistake to plant.
type mutant struct {
	file     string // with its folder: engine/feed.go
	line     int    // from 1
	offset   int    // of the token, in bytes
	from, to string // the token, before and after
	covered  bool   // that tests reach it, says gremlins, which knows nothing of the expressions of cases and constants

	function      string // that the line is in; "" for none
	place         int    // among the equal lines of the function, from 1
	before, after string // the line, without its indent
}

// key tells a mutant from all others and does not change when lines are put in before it.
func (m mutant) key() string {
	head := strings.TrimSpace(m.file + " " + m.function)
	if m.place > 1 {
		head += fmt.Sprintf(" #%d", m.place)
	}
	return head + "\n- " + m.before + "\n+ " + m.after
}

// listMutants asks gremlins for the mutants of a package. They come in no order.
func listMutants(gremlins []string, folder, report string) ([]mutant, error) {
	args := append(slices.Clone(gremlins[1:]), "unleash", "--dry-run", "--output", report)
	for kind := range swaps {
		args = append(args, "--"+strings.ReplaceAll(strings.ToLower(kind), "_", "-"))
	}
	cmd := exec.Command(gremlins[0], append(args, "./"+folder)...)
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -short")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: gremlins: %w\n%s", folder, err, out)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	// Files for other systems are not in GoFiles, nor are those of folders below.
	files, err := exec.Command("go", "list", "-f", `{{join .GoFiles "\n"}}`, "./"+folder).Output()
	if err != nil {
		return nil, fmt.Errorf("go list ./%s: %w", folder, err)
	}
	return parseReport(text, folder, strings.Fields(string(files)))
}

// parseReport reads gremlins' report and the package's source files. Each mutant comes once, also where gremlins lists it twice;
// generated files are left out, as is what is no Go any more.
func parseReport(report []byte, folder string, files []string) ([]mutant, error) {
	var r struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type, Status string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return nil, fmt.Errorf("gremlins' report: %w", err)
	}
	var all []mutant
	for _, f := range r.Files {
		if !slices.Contains(files, f.Name) {
			continue
		}
		path := filepath.Join(folder, f.Name)
		s, err := readSource(path)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(s.file) {
			continue
		}
		seen := map[string]bool{}
		for _, g := range f.Mutations {
			if swaps[g.Type] == nil {
				return nil, fmt.Errorf("gremlins' report: %s:%d: mutation %q is unknown; known are %v", path, g.Line, g.Type, slices.Sorted(maps.Keys(swaps)))
			}
			m, err := s.mutant(g.Line, g.Column, swaps[g.Type])
			if err != nil {
				return nil, fmt.Errorf("gremlins' report: %s:%d:%d: %s: %w", path, g.Line, g.Column, g.Type, err)
			}
			m.covered = g.Status == "RUNNABLE"
			if m.from == m.to || seen[m.key()] {
				continue
			}
			seen[m.key()] = true
			if _, err := parser.ParseFile(token.NewFileSet(), path, s.with(m), parser.SkipObjectResolution); err == nil {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// source is a file that mutants are planted in.
type source struct {
	path  string
	text  []byte
	lines []string
	file  *ast.File
	set   *token.FileSet
}

func readSource(path string) (*source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, text: text, lines: strings.Split(string(text), "\n"), set: token.NewFileSet()}
	s.file, err = parser.ParseFile(s.set, path, text, parser.ParseComments)
	return s, err
}

// mutant finds the token at a line and column, both from 1, and what swap makes of it.
func (s *source) mutant(line, column int, swap map[string]string) (mutant, error) {
	if line < 1 || line > len(s.lines) || column < 1 || column > len(s.lines[line-1]) {
		return mutant{}, fmt.Errorf("no such place in the file")
	}
	text := s.lines[line-1]
	m := mutant{file: filepath.ToSlash(s.path), line: line, place: 1}
	rest := text[column-1:]
	for from := range swap {
		if strings.HasPrefix(rest, from) && len(from) > len(m.from) {
			m.from, m.to = from, swap[from]
		}
	}
	if m.from == "" {
		return mutant{}, fmt.Errorf("found %q, wanted is one of %q", rest, slices.Sorted(maps.Keys(swap)))
	}
	m.before = strings.TrimSpace(text)
	m.after = strings.TrimSpace(text[:column-1] + m.to + rest[len(m.from):])
	start := s.set.File(s.file.Pos()).LineStart(line)
	m.offset = s.set.Position(start).Offset + column - 1
	first := 1
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Pos() <= start+token.Pos(column-1) && start < f.End() {
			m.function, first = nameOf(f), s.set.Position(f.Pos()).Line
		}
	}
	for _, other := range s.lines[first-1 : line-1] {
		if strings.TrimSpace(other) == m.before {
			m.place++
		}
	}
	return m, nil
}

// with gives the file's text with a mutant planted.
func (s *source) with(m mutant) []byte {
	return slices.Concat(s.text[:m.offset], []byte(m.to), s.text[m.offset+len(m.from):])
}

// nameOf is a function's name, behind that of its receiver's type.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	name := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if i, ok := n.(*ast.Ident); ok && name == "" {
			name = i.Name
		}
		return true
	})
	return name + "." + f.Name.Name
}

// draw orders mutants by a hash of seed and key: the first n are a sample, of which a change elsewhere in the package leaves most as it is.
func draw(all []mutant, seed string) []mutant {
	hash := map[string][]byte{}
	for _, m := range all {
		sum := sha256.Sum256([]byte(seed + "\n" + m.key()))
		hash[m.key()] = sum[:]
	}
	return slices.SortedFunc(slices.Values(all), func(a, b mutant) int { return bytes.Compare(hash[a.key()], hash[b.key()]) })
}
