package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// parseSurvivors reads the list of survivors: blocks with blank lines between them, of a mutant's key (file and function, the line
// before, the line after) and then its reason, in one line or more. Lines with # in front, outside blocks, are remarks.
func parseSurvivors(list, text string) (map[string]string, error) {
	reasons := map[string]string{}
	line := 1
	for _, block := range strings.Split(text, "\n\n") {
		at := line + strings.Count(block, "\n") - strings.Count(strings.TrimLeft(block, "\n"), "\n")
		line += strings.Count(block, "\n") + 2
		lines := strings.Split(strings.Trim(block, "\n"), "\n")
		if strings.HasPrefix(lines[0], "#") || lines[0] == "" {
			continue
		}
		if len(lines) < 4 || !strings.HasPrefix(lines[1], "- ") || !strings.HasPrefix(lines[2], "+ ") || strings.TrimSpace(lines[3]) == "" {
			return nil, fmt.Errorf("%s:%d: found %q, wanted are a line with file and function, one with \"- \" before the text that is there, "+
				"one with \"+ \" before what becomes of it, and a reason", list, at, strings.Join(lines, "\n"))
		}
		key := strings.Join(lines[:3], "\n")
		if reasons[key] != "" {
			return nil, fmt.Errorf("%s:%d: this mutant stands in the list before; remove one of the two", list, at)
		}
		reasons[key] = strings.Join(lines[3:], " ")
	}
	return reasons, nil
}

// compare holds what became of a package's mutants to the list: all that live have a reason, and all with a reason live.
func compare(list, folder string, reasons map[string]string, results []result) []string {
	var complaints []string
	tried := map[string]bool{}
	for _, r := range results {
		tried[r.key()] = true
		switch listed := reasons[r.key()] != ""; {
		case r.survived() && !listed:
			complaints = append(complaints, fmt.Sprintf("%s:%d: a mutant lives, and %s has no reason for it; write a test that fails with it, or list it", r.file, r.line, list))
		case (r.outcome == killed || r.outcome == timedOut) && listed:
			complaints = append(complaints, fmt.Sprintf("%s:%d: a mutant of %s is %s now; remove it there", r.file, r.line, list, r.outcome))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(reasons)) {
		if path.Dir(strings.Fields(key)[0]) == folder && !tried[key] {
			complaints = append(complaints, fmt.Sprintf("%s: there is no such mutant any more; remove or mend it:\n%s", list, key))
		}
	}
	return complaints
}
