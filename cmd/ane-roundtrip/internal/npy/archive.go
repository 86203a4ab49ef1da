package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// MaxDirectory is the most bytes of the list of entries of an archive, enough for some 40,000 arrays.
const MaxDirectory = 4 << 20

// suffix ends the names of the entries that numpy.savez writes. The key is the name without it. Other
// programs write entries whose name is the key.
const suffix = ".npy"

// Archive is an .npz file: arrays by key.
type Archive struct {
	name    string
	entries map[string][]*zip.File // by name; several are duplicates
}

// OpenArchive reads the list of arrays in an archive of the given size. Errors are of type *Error and
// contain name.
func OpenArchive(r io.ReaderAt, size int64, name string) (*Archive, error) {
	budget := &directory{r: r, left: MaxDirectory}
	z, err := zip.NewReader(budget, size)
	if budget.left < 0 {
		return nil, &Error{File: name, What: fmt.Sprintf("the archive's list of arrays takes more than %d bytes",
			MaxDirectory), Fix: "save fewer arrays in one file"}
	}
	if err != nil {
		return nil, inFile(err, name, "the .npz archive is damaged or incomplete", "copy or save it again")
	}
	budget.open = true
	a := &Archive{name: name, entries: map[string][]*zip.File{}}
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, "/") { // a folder
			a.entries[f.Name] = append(a.entries[f.Name], f)
		}
	}
	return a, nil
}

// directory limits the bytes that are read while an archive is opened.
type directory struct {
	r    io.ReaderAt
	left int
	open bool
}

func (d *directory) ReadAt(b []byte, at int64) (int, error) {
	if !d.open {
		if d.left -= len(b); d.left < 0 {
			return 0, errors.New("too many entries")
		}
	}
	return d.r.ReadAt(b, at)
}

// Keys lists the arrays by name: the entries with the suffix or, if there are none, all of them.
func (a *Archive) Keys() []string {
	var keys, others []string
	for name := range a.entries {
		if key, ok := strings.CutSuffix(name, suffix); ok {
			keys = append(keys, key)
		} else {
			others = append(others, name)
		}
	}
	if keys == nil {
		keys = others
	}
	slices.Sort(keys)
	return keys
}

// Read reads the array of a key; accept may be nil. The key may be the name of its entry. Errors are of
// type *Error.
func (a *Archive) Read(key string, accept Accept) (*Array, error) {
	found := a.entries[key+suffix]
	if found == nil {
		found = a.entries[key]
	}
	switch len(found) {
	case 0:
		return nil, &Error{File: a.name, What: fmt.Sprintf("the archive has no array %q", key), Fix: a.has()}
	case 1:
	default:
		return nil, &Error{File: a.name, What: fmt.Sprintf("the archive has the array %q twice", key),
			Fix: "save it again"}
	}
	f := found[0]
	if f.Flags&1 != 0 {
		return nil, &Error{File: a.name, What: fmt.Sprintf("the array %q is encrypted", key),
			Fix: "save it without a password"}
	}
	name := a.name + ":" + plain(key)
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, &Error{File: name, What: fmt.Sprintf("compressed by method %d of zip", f.Method),
			Fix: "save it with numpy.savez or numpy.savez_compressed"}
	}
	if err != nil {
		return nil, inFile(err, name, "the .npz archive is damaged", "copy or save it again")
	}
	defer r.Close()
	array, err := read(r, maxFile, firstChunk, accept)
	if err != nil {
		return nil, inFile(err, name, "the .npz archive is damaged", "copy or save it again")
	}
	return array, nil
}

// plain returns a key for a message, shortened if it is long and quoted if it contains special characters.
func plain(key string) string {
	const longest = 80
	if len(key) > longest {
		key = strings.ToValidUTF8(key[:longest], "") + "..."
	}
	if quoted := strconv.Quote(key); quoted != `"`+key+`"` {
		return quoted
	}
	return key
}

// has lists some keys for a message.
func (a *Archive) has() string {
	const shown = 8
	keys := a.Keys()
	for i := range keys[:min(len(keys), shown)] {
		keys[i] = plain(keys[i])
	}
	switch n := len(keys); {
	case n == 0:
		return "it has no arrays; save them again with numpy.savez"
	case n > shown:
		return fmt.Sprintf("it has %s and %d more", strings.Join(keys[:shown], ", "), n-shown)
	}
	return "it has " + strings.Join(keys, ", ")
}

// Member is an array that WriteArchive writes.
type Member struct {
	Key   string
	Array *Array
}

// WriteArchive writes an .npz file as numpy.savez does: the members in their order, not compressed.
// Errors are of type *Error and wrap an error of w. After an error w may hold a part of the file.
func WriteArchive(w io.Writer, members []Member) error {
	z := zip.NewWriter(w)
	for _, m := range members {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: m.Key + suffix, Method: zip.Store})
		if err == nil {
			err = Write(entry, m.Array)
		}
		if err != nil {
			return inFile(err, "", "cannot write the archive", checkSpace)
		}
	}
	return inFile(z.Close(), "", "cannot write the archive", checkSpace)
}
