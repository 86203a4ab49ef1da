package standin

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/plist"
)

// EnvDump is the environment variable with the file that Start replays: FILE, or FILE#N
// for entry N, from 0, of a table. Options.Dump takes precedence.
const EnvDump = "ANEKIT_STANDIN_DUMP"

// Dump is the recorded answers of a real machine, read from a file. The framework replays
// some of them; others are only information.
type Dump struct {
	File    string // without #N
	Row     int    // N; -1 without #N
	Source  string
	Chip    string
	OS      string // as written in the file
	Build   string // for example "26A434"; empty if OS has none
	What    string
	Profile string // the generation of OS, as in Options

	// Program is the compiled program in the file, or nil.
	Program *DumpedProgram
	// Errors are all errors in the file, including those that are not replayed.
	Errors []DumpedError
	// Ignored are the unused keys of data, and unused entries of its table as "#3".
	Ignored []string

	keys             []string // keys of live entries; nil for the stand-in's own
	missing, changed []string // as in Options
	tables           tables
}

// ReadDump reads a JSON file or an XML property list. The file holds an envelope {source, chip, os, program, what,
// trust, data}, or only the modelAttributes of a program. name may end in #N. The error matches ane.ErrUnavailable and
// has the file, the line of a syntax error, and a hint.
func ReadDump(name string) (*Dump, error) {
	d := &Dump{Profile: "26"}
	d.File, d.Row = SplitDump(name)
	v, err := plist.ReadFile(d.File)
	if err == nil {
		err = d.read(v)
	}
	if err != nil {
		return nil, &ane.Error{Op: "open", Engine: Name, Name: d.File, Err: ane.Because(ane.ErrUnavailable, err),
			Detail: "the dump cannot be replayed",
			Hint: "set " + EnvDump + " to a file like those in testdata/dumps or one written by ane-roundtrip info " +
				"--report"}
	}
	return d, nil
}

// SplitDump splits FILE#N. row is -1 unless only digits follow the last #.
func SplitDump(name string) (file string, row int) {
	at := strings.LastIndexByte(name, '#')
	if at < 1 || strings.Trim(name[at+1:], "0123456789") != "" {
		return name, -1
	}
	row, err := strconv.Atoi(name[at+1:])
	if err != nil {
		return name, -1
	}
	return name[:at], row
}

// read reads the tree of a file.
func (d *Dump) read(v any) error {
	v = withoutNull(v)
	root, isDict := v.(plist.Dict)
	data, ok := root.Get("data")
	if !ok { // may be only attributes, or a document that contains them
		if _, ok := plist.Nearest(v, holdsProgram); !ok {
			if !isDict {
				return errors.New("the top is no dictionary; an envelope has the keys os and data")
			}
			return errors.New("no key data; an envelope has the keys os and data")
		}
		data = v
	}
	d.Source, d.Chip, d.OS, d.What = root.String("source"), root.String("chip"), root.String("os"), root.String("what")
	profile, named := profileOf(d.OS)
	d.Profile, d.Build = profile, buildOf(d.OS)
	rows := rowsOf(data)
	if d.Row >= len(rows) {
		return fmt.Errorf("no entry %d: the file has a table of %d entries", d.Row, len(rows))
	}
	if err := d.readData(data, rows, named); err != nil {
		return err
	}
	d.Ignored = d.ignored(data, rows)
	return nil
}

// readData runs all readers on the data. named reports that the envelope names the
// generation.
func (d *Dump) readData(data any, rows plist.Array, named bool) error {
	dict, _ := data.(plist.Dict)
	if err := d.readProgram(dict, data); err != nil {
		return err
	}
	d.readModel(dict)
	d.readPool(dict)
	d.readQoS(dict)
	d.readMethods(dict)
	d.readTexts(dict)
	d.readDevice(dict)
	return d.readRows(rows, named)
}

// describe returns the modelAttributes of a program. They are the dump's if the program matches it, else the stand-in's
// with the dump's keys of live entries.
func (d *Dump) describe(p *program) plist.Dict {
	switch {
	case d == nil:
		return p.describe(liveKeys)
	case d.Program.is(p):
		d.Program.arrange(p)
		return d.Program.attributes
	case d.keys != nil:
		return p.describe(d.keys)
	}
	return p.describe(liveKeys)
}

// withoutNull returns a value without JSON's nulls. In dictionaries it removes their keys
// too.
func withoutNull(v any) any {
	switch v := v.(type) {
	case plist.Dict:
		kept := plist.Dict{}
		for _, e := range v {
			if e.Value != nil {
				kept = append(kept, plist.Entry{Key: e.Key, Value: withoutNull(e.Value)})
			}
		}
		return kept
	case plist.Array:
		kept := plist.Array{}
		for _, item := range v {
			if item != nil {
				kept = append(kept, withoutNull(item))
			}
		}
		return kept
	}
	return v
}

// pattern is a regular expression, compiled at its first use. A process that reads no dump, as most, compiles none, and
// need not link package regexp.
type pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}

var build = &pattern{text: `\((\d\d[A-Z]\d+[a-z]?)\)`}

// buildOf returns the build in parentheses.
func buildOf(os string) string {
	if found := build.get().FindStringSubmatch(os); found != nil {
		return found[1]
	}
	return ""
}

// integer converts a number, or a text in hexadecimal.
func integer(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case string:
		n, err := strconv.ParseInt(v, 0, 64)
		return n, err == nil && strings.HasPrefix(v, "0x")
	}
	return 0, false
}

// Patterns of an operating system with its generation. A number alone may be a chip's or
// a build's, so it must be one of the two known generations. oldMac is one with a profile of the
// iOS of its year.
var (
	oldMac    = &pattern{text: `(?i)\bmacOS[^\d]{0,3}(1[234])\b`}
	macOS     = &pattern{text: `(?i)\b(?:macOS|iOS|iPadOS)[^\d]{0,3}(\d+)`}
	leading   = &pattern{text: `^(\d+)(?:\.\d+)*\b`}
	seenSoFar = &pattern{text: `\b(2[67])\b`}
)

// profileOf returns the profile of an operating system; for a newer one, the newest
// profile. named is false if the text has none and the default is returned.
func profileOf(os string) (profile string, named bool) {
	if found := oldMac.get().FindStringSubmatch(os); found != nil {
		return map[string]string{"12": "15", "13": "16.5", "14": "17"}[found[1]], true
	}
	for _, words := range [...]*regexp.Regexp{macOS.get(), leading.get(), seenSoFar.get()} {
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
