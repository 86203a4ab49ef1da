package chip

import (
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/near"
)

// OS is a release of macOS by its major number, 15 for macOS 15. The zero OS is none.
type OS int

// String returns "macOS 15".
func (o OS) String() string {
	if o == 0 {
		return "no OS"
	}
	return "macOS " + strconv.Itoa(int(o))
}

// releases lists each release of macOS with the number of the iOS release of the same year. An opset is named
// after the latter. macOS was renumbered from 15 to 26.
var releases = []struct{ mac, ios OS }{{12, 15}, {13, 16}, {14, 17}, {15, 18}, {26, 26}, {27, 27}}

// ParseOS returns the OS called name: a release of macOS ("15", "macos15", "macOS 15.3") or the release of iOS
// of the same year ("ios18"). The error is an *Error.
func ParseOS(name string) (OS, error) {
	word := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), " ", ""))
	number, mac := strings.CutPrefix(word, "macos")
	number, ios := strings.CutPrefix(number, "ios")
	major, _, _ := strings.Cut(number, ".")
	n, err := strconv.Atoi(major)
	var choices []string
	for _, r := range releases {
		if err == nil && (!ios && OS(n) == r.mac || ios && !mac && OS(n) == r.ios) {
			return r.mac, nil
		}
		choices = append(choices, "macos"+strconv.Itoa(int(r.mac)))
	}
	return 0, &Error{"OS", name, near.Choices(word, "choose one of", choices)}
}

// Opset returns the first OS whose compiler knows an opset such as "ios18". It returns false for
// a word that names no opset of the table.
func Opset(name string) (OS, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "ios"))
	if err != nil || !strings.HasPrefix(name, "ios") {
		return 0, false
	}
	for _, r := range releases {
		if n >= 13 && r.ios == OS(max(n, 15)) {
			return r.mac, true
		}
	}
	return 0, false
}
