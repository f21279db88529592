package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"burst/backend"
	"burst/genome"
)

// checkChoice refuses a value that the flag does not allow; what names the flag.
func checkChoice(what, word string, choices []string) error {
	if slices.Contains(choices, word) {
		return nil
	}
	text := fmt.Sprintf("%s %q, want one of %s", what, word, strings.Join(choices, ", "))
	if near := nearestChoice(word, choices); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return usageError{errors.New(text)}
}

// nearestChoice is the choice that a word stands for: by another name, in other letters, or misspelt.
func nearestChoice(word string, choices []string) string {
	for _, alias := range [][2]string{{"gpu", "cuda"}, {"nvidia", "cuda"}, {"ref", "reference"}} {
		if strings.EqualFold(word, alias[0]) && slices.Contains(choices, alias[1]) {
			return alias[1]
		}
	}
	return genome.Nearest(word, choices)
}

// checkBackend refuses a name that no backend has.
func checkBackend(name string) error { return checkChoice("no backend", name, backend.Names()) }
