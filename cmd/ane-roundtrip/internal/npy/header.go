package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anekit/anekit/internal/sniff"
)

const (
	magic = "\x93NUMPY"
	// maxDimensions is the most dimensions of an array (NPY_MAXDIMS of NumPy 2).
	maxDimensions = 64
	// alignment of the data in files that NumPy writes (numpy.lib.format, ARRAY_ALIGN).
	alignment = 64
	// growth are the digits for the dimension along which an array may grow (GROWTH_AXIS_MAX_DIGITS).
	growth = 21
)

// NotSingle is the fault of an archive in place of a .npy file.
const NotSingle = "this is a .npz archive, not a .npy file"

// saveAgain is the remedy for a file that is damaged or of another format.
const saveAgain = "save the array again with numpy.save"

// otherFile describes a file that is not a .npy file by its first bytes. It returns nil if they are the beginning of a
// .npy file.
func otherFile(start string) *Error {
	what, fix := `not a .npy file: it does not begin with \x93NUMPY`, saveAgain
	switch found := sniff.Start("", []byte(start), int64(len(start))); found.Kind {
	case sniff.Empty:
		what = "the file is empty"
	case sniff.Npy:
		return nil
	case sniff.Npz, sniff.Zip:
		what, fix = NotSingle, "name one of its arrays, as FILE.npz:KEY"
	case sniff.Binary:
		if strings.HasPrefix(magic, start) {
			return nil
		}
	default:
		what = "this is " + found.What + ", not a .npy file"
		if found.Absent() || found.Kind == sniff.Gzip {
			fix = found.Next
		}
	}
	return &Error{What: what, Fix: fix}
}

// begins returns more of the first bytes of r, if it can read them again without waiting; else those that it has read.
func begins(r io.Reader, read string) string {
	if file, ok := r.(io.ReaderAt); ok {
		start := make([]byte, sniff.Enough)
		if n, _ := file.ReadAt(start, 0); bytes.HasPrefix(start[:n], []byte(read)) {
			return string(start[:n])
		}
	}
	return read
}

// readHeader reads everything before the data. It returns an array without data, and the position of the data.
func readHeader(r io.Reader) (a *Array, at int, err error) {
	var text bytes.Buffer
	readTo := func(end int, what string) error {
		if _, err := io.CopyN(&text, r, int64(end-text.Len())); err != nil {
			return ended(err, text.Len(), what)
		}
		return nil
	}
	at = len(magic) + 2
	err = readTo(at, "the magic string and version")
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		if other := otherFile(begins(r, text.String())); other != nil {
			return nil, 0, other
		}
	}
	if err != nil {
		return nil, 0, err
	}
	major, minor, width := text.Bytes()[at-2], text.Bytes()[at-1], 2
	if major < 1 || major > 3 || minor != 0 {
		return nil, 0, fault(at-2, "save it in version 1.0, 2.0 or 3.0", "format version %d.%d is unknown", major, minor)
	}
	if major > 1 {
		width = 4
	}
	if err := readTo(at+width, "the length of the header"); err != nil {
		return nil, 0, err
	}
	length := binary.LittleEndian.Uint32(append(text.Bytes()[at:at+width:at+width], 0, 0))
	if length > math.MaxUint16 { // those of NumPy have some hundred bytes
		return nil, 0, fault(at, saveAgain, "the header claims %d bytes, more than %d", length, math.MaxUint16)
	}
	at += width
	if err := readTo(at+int(length), fmt.Sprintf("a header of %d bytes", length)); err != nil {
		return nil, 0, err
	}
	a, refused := parse(text.String(), at)
	if refused != nil {
		return nil, 0, refused
	}
	return a, text.Len(), nil
}

// entry is an entry of the dictionary in a header.
type entry struct {
	form func() *regexp.Regexp // key, value, and the comma or brace after them
	set  func(a *Array, value string) *Error
}

// entries are all entries. A shape is (), (3,), (3, 4) or (3, 4,); Python 2 wrote integers that end in L.
var entries = [...]entry{
	{form("descr", `'[^'\\\n]*'|"[^"\\\n]*"|[\[({].*?`), (*Array).setType},
	{form("fortran_order", `True|False`), (*Array).setOrder},
	{form("shape", `\(\s*(?:(?:(?:0|[1-9]\d*)L?\s*,\s*)+(?:(?:0|[1-9]\d*)L?\s*)?)?\)`), (*Array).setShape},
}

func form(key, value string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(['"]` + key + `['"]\s*:\s*)(` + value + `)\s*(,\s*\}|\}|,)`)
	})
}

// parse reads the dictionary of a header from a position in the file; text ends before the data. It accepts the keys
// and values that NumPy writes, in any order and spacing, but no other Python.
func parse(text string, at int) (*Array, *Error) {
	rest := text[at:]
	skip := func(n int) { rest = strings.TrimLeft(rest[n:], " \t\r\n\f") }
	bad := func() (*Array, *Error) {
		found := "the end"
		if rest != "" {
			found = strconv.Quote(rest[:min(len(rest), 30)])
		}
		return nil, fault(len(text)-len(rest), saveAgain, "bad header: expected a dictionary of descr, fortran_order and "+
			"shape, each once and as numpy.save writes it, found %s", found)
	}
	if skip(0); !strings.HasPrefix(rest, "{") {
		return bad()
	}
	skip(1)
	a, missing := &Array{}, slices.Clone(entries[:])
	for end := ","; end == ","; {
		var parts []string
		i := slices.IndexFunc(missing, func(e entry) bool {
			parts = e.form().FindStringSubmatch(rest)
			return parts != nil
		})
		if i < 0 {
			return bad()
		}
		if e := missing[i].set(a, parts[2]); e != nil {
			e.Offset = int64(len(text) - len(rest) + len(parts[1]))
			return nil, e
		}
		missing, end = slices.Delete(missing, i, i+1), parts[3]
		skip(len(parts[0]))
	}
	if len(missing) > 0 || rest != "" {
		return bad()
	}
	return a, nil
}

func (a *Array) setShape(value string) *Error {
	a.Shape = []int{}
	for _, d := range strings.FieldsFunc(value, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(d)
		if err != nil {
			return fault(0, saveAgain, "bad header: the dimension %.40s of the shape is too large", d)
		}
		a.Shape = append(a.Shape, n)
	}
	if len(a.Shape) > maxDimensions {
		return fault(0, saveAgain, "the shape has %d dimensions, more than %d", len(a.Shape), maxDimensions)
	}
	return nil
}

func (a *Array) setOrder(value string) *Error {
	a.Fortran = value == "True"
	return nil
}

// appendHeader returns the header that NumPy writes: the dictionary, room to grow, padding and a line feed. It pads to
// a multiple of 64, by 64 if it is a multiple already.
func appendHeader(a *Array) []byte {
	shape, room := strings.Trim(strings.ReplaceAll(fmt.Sprint(a.Shape), " ", ", "), "[]"), 0
	if len(a.Shape) > 0 {
		room = growth - len(strconv.Itoa(a.Shape[0]))
	}
	if len(a.Shape) == 1 {
		shape += ","
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }%*s", descr(a.Type), shape, room, "")
	const lead = len(magic) + 4
	length := (lead+len(dict)+1)/alignment*alignment + alignment - lead
	out := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(length))
	return fmt.Appendf(out, "%-*s\n", length-1, dict)
}
