package standin

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/plist"
)

// EnvDump names the variable with the file that Start replays: FILE, or FILE#N for
// entry N, from 0, of a table. Options.Dump goes before it.
const EnvDump = "ANEKIT_STANDIN_DUMP"

// Dump is what a real machine has answered, read from a file: what of it the
// framework answers too, and what it only tells.
type Dump struct {
	File    string // without #N
	Row     int    // N, -1 without
	Source  string
	Chip    string
	OS      string // as the file says
	Build   string // "26A434" where OS has it, else empty
	What    string
	Profile string // the generation that OS names: "26", or "27"

	// Program is the compiled program in the file, nil where there is none.
	Program *DumpedProgram
	// Errors are all errors in the file, those that are not answered too.
	Errors []DumpedError
	// Ignored are the keys of data, and entries of its table as "#3", that nothing was
	// taken from.
	Ignored []string

	keys             []string // of live entries, nil for the stand-in's own
	missing, changed []string // as in Options
	tables           tables
}

// ReadDump reads a file: an envelope {source, chip, os, program, what, trust, data} as
// JSON or XML property list, or the modelAttributes of a program alone. name may end in
// #N. The error matches ane.ErrUnavailable and names the file, the line where the form is
// broken, and what to do.
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
			Hint: "name one like those in testdata/dumps, or one that ane-roundtrip info --report wrote, in " +
				EnvDump}
	}
	return d, nil
}

// SplitDump splits FILE#N. The row is -1 where nothing but digits follows the last #.
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

// read takes what is known from the tree of a file.
func (d *Dump) read(v any) error {
	v = withoutNull(v)
	root, isDict := v.(plist.Dict)
	data, ok := root.Get("data")
	if !ok { // perhaps attributes alone, or a document around them
		if _, ok := plist.Nearest(v, holdsProgram); !ok {
			if !isDict {
				return errors.New("no dictionary at its top; an envelope has the keys os and data")
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
		return fmt.Errorf("no entry %d: the file has a table of %d", d.Row, len(rows))
	}
	if err := d.take(data, rows, named); err != nil {
		return err
	}
	d.Ignored = d.ignored(data, rows)
	return nil
}

// take has every reader take what is its own. named says that the envelope names the
// generation.
func (d *Dump) take(data any, rows plist.Array, named bool) error {
	dict, _ := data.(plist.Dict)
	if err := d.readProgram(dict, data); err != nil {
		return err
	}
	d.readModel(dict)
	d.readQoS(dict)
	d.readMethods(dict)
	d.readTexts(dict)
	d.readDevice(dict)
	return d.readRows(rows, named)
}

// describe returns the modelAttributes of a program: what the dump says when it is the
// dump's, else the stand-in's own facts with the keys of live entries that the dump has.
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

// withoutNull is a value without JSON's null: of dictionaries the key goes too.
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

var build = regexp.MustCompile(`\((\d\d[A-Z]\d+[a-z]?)\)`)

// buildOf returns the build that stands in parentheses.
func buildOf(os string) string {
	if found := build.FindStringSubmatch(os); found != nil {
		return found[1]
	}
	return ""
}

// integer is a number, or one written in hexadecimal.
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
