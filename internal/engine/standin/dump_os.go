package standin

import (
	"regexp"
	"strconv"
)

// Patterns of an operating system with its generation. A number alone may be a chip's or
// a build's, so it must be one of the two known generations. oldMac is one with a profile of the
// iOS of its year.
var (
	oldMac    = pattern(`(?i)\bmacOS[^\d]{0,3}(1[234])\b`)
	macOS     = pattern(`(?i)\b(?:macOS|iOS|iPadOS)[^\d]{0,3}(\d+)`)
	leading   = pattern(`^(\d+)(?:\.\d+)*\b`)
	seenSoFar = pattern(`\b(2[67])\b`)
)

// profileOf returns the profile of an operating system; for a newer one, the newest
// profile. named is false if the text has none and the default is returned.
func profileOf(os string) (profile string, named bool) {
	if found := oldMac().FindStringSubmatch(os); found != nil {
		return map[string]string{"12": "15", "13": "16.5", "14": "17"}[found[1]], true
	}
	for _, words := range [...]*regexp.Regexp{macOS(), leading(), seenSoFar()} {
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
