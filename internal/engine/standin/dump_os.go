package standin

import (
	"regexp"
	"strconv"
)

// Words of an operating system with its generation. A number alone may be a chip's or a
// build's, so it is one of the two generations that have been seen.
var (
	macOS     = regexp.MustCompile(`(?i)\b(?:macOS|iOS|iPadOS)[^\d]{0,3}(\d+)`)
	leading   = regexp.MustCompile(`^(\d+)(?:\.\d+)*\b`)
	seenSoFar = regexp.MustCompile(`\b(2[67])\b`)
)

// profileOf returns the profile of an operating system, the newest for one that is newer;
// named says that it is in the text, and not the default.
func profileOf(os string) (profile string, named bool) {
	for _, words := range [...]*regexp.Regexp{macOS, leading, seenSoFar} {
		found := words.FindStringSubmatch(os)
		if found == nil {
			continue
		}
		switch n, err := strconv.Atoi(found[1]); {
		case err != nil:
		case n == 26:
			return "26", true
		case n > 26:
			return "27", true
		}
	}
	return "26", false
}
