package main

import (
	"os"
	"os/user"
	"path"
	"regexp"
	"strings"
)

// absolute finds absolute paths within a text.
var absolute = regexp.MustCompile(`(?:^|[\s"'(\[<=:,;])(/[^\s"'()\[\]<>:,;]+)`)

// Folders whose paths say nothing of their user.
var (
	system    = []string{"/System/Library/", "/usr/lib/", "/Library/Apple/"}
	temporary = []string{"/private/var/folders/", "/var/folders/", "/private/tmp/", "/tmp/"}
)

// scrubber takes out of texts what is about the person and not about the machine.
type scrubber struct {
	words *regexp.Regexp // names of the user and of the machine; nil for none
	temp  []string       // folders for temporary files, longest first
}

func newScrubber() scrubber {
	s := scrubber{temp: append([]string{strings.TrimRight(os.TempDir(), "/") + "/"}, temporary...)}
	names := map[string]bool{}
	if u, err := user.Current(); err == nil {
		names[u.Username] = true
		names[path.Base(u.HomeDir)] = true
	}
	if host, err := os.Hostname(); err == nil {
		names[host] = true
		short, _, _ := strings.Cut(host, ".")
		names[short] = true
	}
	var words []string
	for name := range names {
		if len(name) > 2 { // shorter ones are within other words
			words = append(words, regexp.QuoteMeta(name))
		}
	}
	if len(words) > 0 {
		s.words = regexp.MustCompile(`(?i)\b(?:` + strings.Join(words, "|") + `)\b`)
	}
	return s
}

// text shortens paths outside of temporary and system folders to their last part, and
// replaces the names of user and machine.
func (s scrubber) text(text string) string {
	text = absolute.ReplaceAllStringFunc(text, func(found string) string {
		at := strings.IndexByte(found, '/')
		return found[:at] + s.path(found[at:])
	})
	if s.words != nil {
		text = s.words.ReplaceAllString(text, "...")
	}
	return text
}

func (s scrubber) path(p string) string {
	for _, folder := range system {
		if strings.HasPrefix(p, folder) {
			return p
		}
	}
	for _, folder := range s.temp {
		if rest, ok := strings.CutPrefix(p, folder); ok && folder != "/" {
			if strings.HasSuffix(folder, "folders/") { // two parts that name the user, then T
				parts := strings.SplitN(rest, "/", 4)
				rest = parts[len(parts)-1]
			}
			return "$TMPDIR/" + rest
		}
	}
	return ".../" + path.Base(p)
}
