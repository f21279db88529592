package genome

import "strings"

// Nearest is the candidate that a mistyped word most likely meant; "" if none is near. It is never the word itself, nor a
// candidate without a common character.
func Nearest(word string, candidates []string) string {
	const longest = 100
	if len(word) > longest {
		return ""
	}
	best, found := 0, ""
	lower := strings.ToLower(word)
	for _, c := range candidates {
		if len(c) > longest || c == word {
			continue
		}
		d := 2 * distance(lower, strings.ToLower(c))
		if strings.EqualFold(c, word) {
			d = 1
		}
		if d <= allowed(word, c) && d < 2*max(len(word), len(c)) && (found == "" || d < best) {
			best, found = d, c
		}
	}
	return found
}

// allowed is twice the largest number of edits that counts as a typing mistake: about a third of the word's length.
func allowed(a, b string) int { return 2 * max(1, (max(len(a), len(b))+1)/3) }

// distance is the number of insertions, deletions, replacements and swaps of neighbours that turn a into b.
func distance(a, b string) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
