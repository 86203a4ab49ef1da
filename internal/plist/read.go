// Package plist reads and writes property lists as ordered trees: the XML form of
// macOS, and the same values as JSON.
//
// A value is a bool, int64, uint64 (only above math.MaxInt64), float64, string, Array or
// Dict; JSON's null is nil. Dict keeps the order of its keys.
//
// Readers refuse invalid UTF-8, a key given twice, nesting deeper than MaxDepth, more than MaxValues values, and input
// longer than MaxBytes. Every error is an *Error with the line.
package plist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// Error is a fault of a property list.
type Error struct {
	Line int    // counted from 1; 0 for the whole input
	Msg  string // what is wrong, and how to fix it
	Err  error  // the error of the decoder, or nil
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}

func (e *Error) Unwrap() error { return e.Err }

// Read reads a property list: XML when its first character is '<', JSON otherwise.
func Read(data []byte) (any, error) {
	if len(data) > MaxBytes {
		return nil, &Error{Msg: fmt.Sprintf("%d bytes, at most %d", len(data), MaxBytes)}
	}
	if bytes.HasPrefix(data, []byte("bplist")) {
		return nil, &Error{Msg: "a binary property list; convert it with: plutil -convert xml1 FILE"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if at := invalid(data); at >= 0 {
		return nil, &Error{Line: line(data, at), Msg: "not valid UTF-8"}
	}
	first := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(first) == 0:
		return nil, &Error{Msg: "empty; expected a property list as JSON or XML"}
	case first[0] == '<':
		return readXML(data)
	case bytes.IndexByte([]byte("{[\"-0123456789tfn"), first[0]) < 0:
		return nil, &Error{Line: line(data, len(data)-len(first)), Msg: "neither JSON nor an XML property list; " +
			"a log prints another form: write the dictionary with NSPropertyListSerialization, or convert a file " +
			"with plutil -convert xml1"}
	}
	return readJSON(data)
}

// ReadFile reads the file at path, at most MaxBytes of any kind of file.
func ReadFile(path string) (any, error) {
	info, err := os.Stat(path) // check first: opening a pipe would wait for its writer
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("is a directory; name a file")}
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0:
		return nil, &os.PathError{Op: "read", Path: path,
			Err: errors.New("is a pipe, which may never end; save it to a file first")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	v, err := Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// invalid returns the offset of the first byte that is not valid UTF-8, or -1.
func invalid(data []byte) int {
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
	return -1
}

// line returns the number of the line of the byte at offset.
func line(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}

// budget counts the values and the depth of one document.
type budget struct{ values, depth int }

func (b *budget) value() error {
	if b.values++; b.values > MaxValues {
		return fmt.Errorf("more than %d values", MaxValues)
	}
	return nil
}

func (b *budget) enter() error {
	if b.depth++; b.depth > MaxDepth {
		return fmt.Errorf("nested deeper than %d levels", MaxDepth)
	}
	return b.value()
}

func (b *budget) leave() { b.depth-- }

// keys finds keys that stand twice.
type keys map[string]bool

func (k keys) add(key string) error {
	if k[key] {
		return fmt.Errorf("key %.80q is given twice", key)
	}
	k[key] = true
	return nil
}
