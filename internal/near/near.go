// Package near finds the word that was probably meant.
package near

import (
	"slices"
	"strings"
)

// longest is the length of words that are compared; longer ones are no typing
// mistakes, and comparing takes the product of both lengths.
const longest = 40

// Word returns the choice that is closest to word: one that differs in a letter or
// two by the length of the word, upper and lower case being the same. It returns ""
// if there is none. Of equally close choices it takes the one of the same letters, the
// one that begins like word, or the first.
func Word(word string, choices []string) string {
	if word == "" || len(word) > longest {
		return ""
	}
	lower := strings.ToLower(word)
	best, least, alike := "", 1+max(1, len(word)/3), 0
	for _, c := range choices {
		if c == "" || len(c) > longest || c == word {
			continue
		}
		d, like := distance(lower, strings.ToLower(c)), likeness(lower, strings.ToLower(c))
		if d < len(c) && (d < least || d == least && best != "" && like > alike) {
			best, least, alike = c, d, like
		}
	}
	return best
}

// Hint is "did you mean X? " for the closest choice, or empty.
func Hint(word string, choices []string) string {
	if w := Word(word, choices); w != "" {
		return "did you mean " + w + "? "
	}
	return ""
}

// Choices is Hint followed by all choices: "did you mean X? LEAD A, B, C". lead
// introduces the list: "choose one of", "it has".
func Choices(word, lead string, choices []string) string {
	return Hint(word, choices) + lead + " " + strings.Join(choices, ", ")
}

// likeness is the length of what both begin with, or longest and more for words of
// the same letters.
func likeness(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if slices.Equal(slices.Sorted(slices.Values([]byte(a))), slices.Sorted(slices.Values([]byte(b)))) {
		n += longest
	}
	return n
}

// distance counts the letters to insert, remove, replace or exchange with their
// neighbour (the optimal string alignment of Damerau and Levenshtein).
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
