package main

import (
	"os"
	"os/user"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anekit/anekit/internal/plist"
)

// Paths within a text: one in quotes as a whole, folders of people and volumes with the
// spaces in their names, what is left of a person's, and any other up to the next
// character that ends one.
var (
	quoted  = regexp.MustCompile("[\"“‘'`]/[^\"“”‘’'`\\n]+")
	folders = regexp.MustCompile("/(?:Users|home|Volumes|opt|srv)/(?:[^/" + ends + "]*/)+")
	homes   = regexp.MustCompile("/(?:Users|home)/[^ " + ends + "]+")
	paths   = regexp.MustCompile("(?:~|\\.\\.?)?/[^ " + ends + "]+")
)

// ends are the characters that no path goes on behind, for a class of a pattern.
const ends = "\\t\\r\\n\"'()\\[\\]{}<>:,;|`“”‘’"

// Folders whose paths say nothing of their user.
var (
	system    = []string{"/System/Library/", "/usr/lib/", "/Library/Apple/"}
	temporary = []string{"/private/var/folders/", "/var/folders/", "/private/tmp/", "/tmp/"}
)

// scrubber takes out of texts what is about the person and not about the machine.
type scrubber struct {
	folders []string // of this user and program, longest first; they may have spaces
	names   []string // of the user and of the machine
	temp    []string // folders for temporary files
}

// newScrubber knows this process's user, host and folders, and the folders of files that
// reports name.
func newScrubber(files ...string) scrubber {
	s := scrubber{temp: append([]string{strings.TrimRight(os.TempDir(), "/") + "/"}, temporary...)}
	folder := func(name string) {
		if abs, err := filepath.Abs(name); err == nil && len(abs) > 1 && !s.harmless(abs+"/") {
			s.folders = append(s.folders, abs)
		}
	}
	if u, err := user.Current(); err == nil {
		s.names = append(append(s.names, u.Username, path.Base(u.HomeDir)), strings.Fields(u.Name)...)
		folder(u.HomeDir)
	}
	if host, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(host, ".")
		s.names = append(s.names, host, short)
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
	// shorter ones are words
	s.names = slices.DeleteFunc(s.names, func(n string) bool { return utf8.RuneCountInString(n) < 3 })
	longer := func(a, b string) int { return len(b) - len(a) }
	slices.SortFunc(s.folders, longer)
	slices.SortFunc(s.names, longer)
	return s
}

// text shortens paths outside of temporary and system folders to their last part, and
// replaces the names of user and machine.
func (s scrubber) text(text string) string {
	text = s.paths(text)
	for _, name := range s.names {
		text = without(text, name)
	}
	return text
}

// paths is text without replacing names.
func (s scrubber) paths(text string) string {
	for _, folder := range s.folders {
		text = strings.ReplaceAll(text, folder+"/", gone+"/")
	}
	text = quoted.ReplaceAllStringFunc(text, func(found string) string {
		_, n := utf8.DecodeRuneInString(found)
		return found[:n] + s.path(found[n:])
	})
	text = folders.ReplaceAllString(text, gone+"/")
	text = homes.ReplaceAllString(text, gone)
	text = paths.ReplaceAllStringFunc(text, s.path)
	return strings.ReplaceAll(strings.ReplaceAll(text, gone+gone, gone), gone, "...")
}

// gone stands for what was taken out of a path, until all are found.
const gone = "\x00"

func (s scrubber) harmless(p string) bool {
	return slices.ContainsFunc(slices.Concat(system, s.temp), func(folder string) bool {
		return strings.HasPrefix(p,
			folder)
	})
}

func (s scrubber) path(p string) string {
	if !strings.ContainsRune(strings.Trim(p, "/"), '/') && !strings.HasPrefix(p, "~") {
		return p // no more than a name
	}
	if strings.Contains(p, gone) { // part of it is taken out already
		return gone + "/" + path.Base(p)
	}
	clean := path.Clean(p)
	for _, folder := range system {
		if strings.HasPrefix(clean, folder) {
			return clean
		}
	}
	for _, folder := range s.temp {
		rest, ok := strings.CutPrefix(clean, folder)
		if !ok || folder == "/" {
			continue
		}
		if strings.HasSuffix(folder, "folders/") { // two parts that name the user, then T
			parts := strings.SplitN(rest, "/", 4)
			rest = parts[len(parts)-1]
		}
		return "$TMPDIR/" + rest
	}
	return gone + "/" + path.Base(clean)
}

// without replaces a name where it is not part of a longer word. Words are letters and
// digits of any script.
func without(text, name string) string {
	var out strings.Builder
	wordly := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	lower, sought := strings.ToLower(text), strings.ToLower(name)
	if len(lower) != len(text) { // a script whose cases differ in length: as it is written
		lower, sought = text, name
	}
	for from := 0; ; {
		at := strings.Index(lower[from:], sought)
		if at < 0 {
			out.WriteString(text[from:])
			return out.String()
		}
		at += from
		end := at + len(sought)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		out.WriteString(text[from:at])
		if at > 0 && wordly(before) || end < len(text) && wordly(after) {
			out.WriteString(text[at:end])
		} else {
			out.WriteString("...")
		}
		from = end
	}
}

// tree is value with its strings scrubbed, whatever holds them.
func (s scrubber) tree(value any) any {
	switch v := value.(type) {
	case string:
		if strings.HasPrefix(v, "/") {
			v = s.path(v) // it is a path as a whole
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
