// Package near finds the known word that is nearest to a misspelled one.
package near

import (
	"slices"
	"strings"
)

// maxLength is the length of the longest words that are compared. The time of a comparison is the
// product of both lengths.
const maxLength = 40

// Word returns the choice that is nearest to word, ignoring case. The choice may differ in one letter, or
// in a third of the letters of a word of six or more. Of equally near choices Word prefers one with the
// same letters, then one with the longest common beginning, then the first. It returns "" if there is no
// such choice.
func Word(word string, choices []string) string {
	if word == "" || len(word) > maxLength {
		return ""
	}
	lower := strings.ToLower(word)
	best, least, alike := "", 1+max(1, len(word)/3), 0
	for _, c := range choices {
		if c == "" || len(c) > maxLength || c == word {
			continue
		}
		d, like := distance(lower, strings.ToLower(c)), likeness(lower, strings.ToLower(c))
		if d < len(c) && (d < least || d == least && best != "" && like > alike) {
			best, least, alike = c, d, like
		}
	}
	return best
}

// Hint returns "did you mean X? " for the nearest choice, or "".
func Hint(word string, choices []string) string {
	if w := Word(word, choices); w != "" {
		return "did you mean " + w + "? "
	}
	return ""
}

// Choices returns Hint followed by lead, such as "choose one of", and all choices: "did you mean X? LEAD
// A, B, C".
func Choices(word, lead string, choices []string) string {
	return Hint(word, choices) + lead + " " + strings.Join(choices, ", ")
}

// likeness returns the length of the common beginning, plus maxLength for words of the same letters.
func likeness(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if slices.Equal(slices.Sorted(slices.Values([]byte(a))), slices.Sorted(slices.Values([]byte(b)))) {
		n += maxLength
	}
	return n
}

// distance counts the letters to insert, remove, replace or exchange with their neighbor (the optimal
// string alignment of Damerau and Levenshtein).
func distance(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = slices.Min([]int{next[j] + 1, last[j+1] + 1, last[j] + cost})
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last = last, next
	}
	return last[len(b)]
}

// Cut shortens a text for messages.
func Cut(s string) string {
	if r := []rune(s); len(r) > maxLength {
		return string(r[:maxLength]) + ".."
	}
	return s
}
