package info

import (
	"os"
	"os/user"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anekit/anekit/internal/plist"
)

// Paths within a text: a path in quotes; a folder of users or volumes, which may contain spaces; the
// rest of a home folder; any other path up to the next character of ends.
var (
	quoted  = regexp.MustCompile("[\"“‘'`]/[^\"“”‘’'`\\n]+")
	folders = regexp.MustCompile("/(?:Users|home|Volumes|opt|srv)/(?:[^/" + ends + "]*/)+")
	homes   = regexp.MustCompile("/(?:Users|home)/[^ " + ends + "]+")
	paths   = regexp.MustCompile("(?:~|\\.\\.?)?/[^ " + ends + "]+")
)

// ends are the characters that end a path, for a character class.
const ends = "\\t\\r\\n\"'()\\[\\]{}<>:,;|`“”‘’"

// Folders whose paths do not identify a user.
var (
	system    = []string{"/System/Library/", "/usr/lib/", "/Library/Apple/"}
	temporary = []string{"/private/var/folders/", "/var/folders/", "/private/tmp/", "/tmp/"}
)

// scrubber removes names and paths from texts that identify a user or a host.
type scrubber struct {
	folders []string       // of this user and program, longest first; they may contain spaces
	names   *regexp.Regexp // of the user and of the host, where they are not part of a longer word; nil for none
	temp    []string       // folders for temporary files
}

// newScrubber returns a scrubber for the user, host and folders of this process and for the folders of
// files, which are in reports.
func newScrubber(files ...string) scrubber {
	s := scrubber{temp: append([]string{strings.TrimRight(os.TempDir(), "/") + "/"}, temporary...)}
	var names []string
	folder := func(name string) {
		if abs, err := filepath.Abs(name); err == nil && len(abs) > 1 && !within(abs+"/", system) && !within(abs+"/", s.temp) {
			s.folders = append(s.folders, abs)
		}
	}
	if u, err := user.Current(); err == nil {
		names = append(append(names, u.Username, path.Base(u.HomeDir)), strings.Fields(u.Name)...)
		folder(u.HomeDir)
	}
	if host, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(host, ".")
		names = append(names, host, short)
	}
	if cwd, err := os.Getwd(); err == nil {
		folder(cwd)
	}
	if self, err := os.Executable(); err == nil {
		files = append(files, self)
	}
	for _, f := range files {
		if f != "" {
			folder(filepath.Dir(f))
		}
	}
	// shorter names are likely parts of the text
	names = slices.DeleteFunc(names, func(n string) bool { return utf8.RuneCountInString(n) < 3 })
	longer := func(a, b string) int { return len(b) - len(a) }
	slices.SortFunc(s.folders, longer)
	slices.SortFunc(names, longer)
	s.names = wordsOf(names)
	return s
}

// wordsOf matches names with the characters beside them. Words consist of letters and digits of any script.
func wordsOf(names []string) *regexp.Regexp {
	if len(names) == 0 {
		return nil
	}
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	return regexp.MustCompile(`(?i)(^|[^\pL\pN])(?:` + strings.Join(names, "|") + `)($|[^\pL\pN])`)
}

// text shortens paths outside of temporary and system folders to their last element, and replaces the
// names of user and host.
func (s scrubber) text(text string) string {
	text = s.paths(text)
	if s.names == nil {
		return text
	}
	for range 2 { // two names may share the character between them
		text = s.names.ReplaceAllString(text, "${1}...${2}")
	}
	return text
}

// paths is text, but keeps names of user and host.
func (s scrubber) paths(text string) string {
	for _, folder := range s.folders {
		text = strings.ReplaceAll(text, folder+"/", removed+"/")
	}
	text = quoted.ReplaceAllStringFunc(text, func(found string) string {
		_, n := utf8.DecodeRuneInString(found)
		return found[:n] + s.path(found[n:])
	})
	text = folders.ReplaceAllString(text, removed+"/")
	text = homes.ReplaceAllString(text, removed)
	text = paths.ReplaceAllStringFunc(text, s.path)
	return strings.ReplaceAll(strings.ReplaceAll(text, removed+removed, removed), removed, "...")
}

// removed marks a removed part of a path until text replaces it by "...".
const removed = "\x00"

// within reports whether a path is in one of some folders.
func within(p string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(p, folder) })
}

// path shortens one path.
func (s scrubber) path(p string) string {
	if !strings.ContainsRune(strings.Trim(p, "/"), '/') && !strings.HasPrefix(p, "~") {
		return p // a single name
	}
	if strings.Contains(p, removed) { // an earlier pattern has removed a part
		return removed + "/" + path.Base(p)
	}
	clean := path.Clean(p)
	if within(clean, system) {
		return clean
	}
	for _, folder := range s.temp {
		rest, ok := strings.CutPrefix(clean, folder)
		if !ok || folder == "/" {
			continue
		}
		if strings.HasSuffix(folder, "folders/") { // two elements that identify the user, then T
			parts := strings.SplitN(rest, "/", 4)
			rest = parts[len(parts)-1]
		}
		return "$TMPDIR/" + rest
	}
	return removed + "/" + path.Base(clean)
}

// tree returns value with all strings in it scrubbed.
func (s scrubber) tree(value any) any {
	switch v := value.(type) {
	case string:
		if strings.HasPrefix(v, "/") {
			v = s.path(v) // the whole string is a path
		}
		return s.text(v)
	case plist.Array:
		all := make(plist.Array, len(v))
		for i := range v {
			all[i] = s.tree(v[i])
		}
		return all
	case plist.Dict:
		all := make(plist.Dict, len(v))
		for i, e := range v {
			all[i] = plist.Entry{Key: s.paths(e.Key), Value: s.tree(e.Value)}
		}
		return all
	}
	return value
}
