package info

import (
	"os"
	"os/user"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/anekit/anekit/internal/plist"
)

// ends are the characters that end a path, for a character class.
const ends = "\\t\\r\\n\"'()\\[\\]{}<>:,;|`“”‘’"

// paths matches the paths within a text: in quotes, or below a folder of users or volumes, whose folders may contain
// spaces. It matches any other path up to the next character of ends.
var paths = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("[\"“‘'`]/[^\"“”‘’'`\\n]+" +
		"|(?:/[^ /" + ends + "]+)*?/(?:Users|home|root|Volumes|opt|srv|mnt|media)/(?:[^/" + ends + "]*/)*[^ " + ends + "]*" +
		"|(?:~|\\.{1,3})?/[^ " + ends + "]+")
})

// system matches paths that identify no user.
var system = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^/(?:System/Library|usr/lib|Library/Apple)/")
})

// scrubber removes names and paths from texts that identify a user or a host.
type scrubber struct {
	folders *strings.Replacer // of this user and program; they may contain spaces
	names   *regexp.Regexp    // of the user and of the host, where they are not part of a longer word
	temp    *regexp.Regexp    // folders for temporary files, at the start of a path; two elements may identify the user
}

// newScrubber returns a scrubber for the user, host and folders of this process, and for the folders of files that are in
// the text.
func newScrubber(files ...string) scrubber {
	var names, folders []string
	if u, err := user.Current(); err == nil {
		folders = append(folders, u.HomeDir)
		names = append(append(names, u.Username, path.Base(u.HomeDir)), strings.Fields(u.Name)...)
	}
	if host, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(host, ".")
		names = append(names, host, short)
	}
	if folder, err := os.Getwd(); err == nil {
		folders = append(folders, folder)
	}
	if self, err := os.Executable(); err == nil {
		files = append(files, self)
	}
	for _, file := range files {
		folders = append(folders, path.Dir(file))
	}
	return scrubber{replacer(folders), wordsOf(names), regexp.MustCompile("^(?:(?:/private)?(?:/var/folders/[^/]+/[^/]+/[^/]+|/tmp)|" +
		regexp.QuoteMeta(path.Clean(os.TempDir())) + ")/")}
}

// replacer shortens absolute folders with a space, longest first, which paths does not match as a whole.
func replacer(folders []string) *strings.Replacer {
	folders = slices.DeleteFunc(folders, func(f string) bool { return !path.IsAbs(f) || !strings.Contains(f, " ") })
	slices.SortFunc(folders, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, folder := range folders {
		pairs = append(pairs, folder, "...")
	}
	return strings.NewReplacer(pairs...)
}

// wordsOf matches names with the characters beside them. Words consist of letters and digits of any script; a name of
// one or two is likely a part of the text.
func wordsOf(names []string) *regexp.Regexp {
	names = slices.DeleteFunc(names, func(n string) bool { return utf8.RuneCountInString(n) < 3 })
	names = append(names, "\x00\x00\x00") // which no text has: there may be no other
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	return regexp.MustCompile(`(?i)(^|[^\pL\pN])(?:` + strings.Join(names, "|") + `)($|[^\pL\pN])`)
}

// text shortens paths outside of temporary and system folders to their last element, and replaces the names of user and
// host.
func (s scrubber) text(text string) string {
	text = s.shortened(text)
	for range 2 { // two names may share the character between them
		text = s.names.ReplaceAllString(text, "${1}...${2}")
	}
	return text
}

// shortened is text, but keeps names of user and host.
func (s scrubber) shortened(text string) string {
	return paths().ReplaceAllStringFunc(s.folders.Replace(text), func(found string) string {
		at := strings.IndexAny(found, "~./") // after the quote
		return found[:at] + s.path(found[at:])
	})
}

// path shortens one path.
func (s scrubber) path(p string) string {
	clean := path.Clean(p)
	switch dir := path.Dir(clean); {
	case !strings.Contains(strings.Trim(p, "/"), "/") && p[0] != '~': // a single name
		return p
	case system().MatchString(clean):
		return clean
	case s.temp.MatchString(clean):
		return s.temp.ReplaceAllLiteralString(clean, "$TMPDIR/")
	case dir == "/Users" || dir == "/home":
		return "..."
	}
	return ".../" + path.Base(clean)
}

// tree scrubs all texts in a value of a property list, but for those that the stand-in compares: names of classes,
// programs and tensors.
func (s scrubber) tree(value any) any {
	switch v := value.(type) {
	case string:
		return s.text(v)
	case plist.Array:
		for i := range v {
			v[i] = s.tree(v[i])
		}
	case plist.Dict:
		for i, e := range v {
			if !slices.Contains([]string{"ANEFModelDescription", "NetworkStatusList", "self_check"}, e.Key) {
				v[i] = plist.Entry{Key: s.shortened(e.Key), Value: s.tree(e.Value)}
			}
		}
	}
	return value
}
