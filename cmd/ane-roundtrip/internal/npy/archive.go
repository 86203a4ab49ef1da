package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxDirectory is the most bytes of the list of entries of an archive, enough for some 40,000 arrays.
const maxDirectory = 4 << 20

// suffix ends the names of the entries that numpy.savez writes. The key is the name without it. Other programs write
// entries whose name is the key.
const suffix = ".npy"

// Archive is an .npz file: arrays by key.
type Archive struct {
	name  string
	files []*zip.File
}

// OpenArchive reads the list of arrays in an archive of the given size. Errors are of type *Error and contain name.
func OpenArchive(r io.ReaderAt, size int64, name string) (*Archive, error) {
	budget := &directory{ReaderAt: r, left: maxDirectory}
	z, err := zip.NewReader(budget, size)
	if err != nil {
		return nil, inFile(err, name, "the .npz archive is damaged or incomplete", "copy or save it again")
	}
	budget.left = math.MaxInt64
	folder := func(f *zip.File) bool { return strings.HasSuffix(f.Name, "/") }
	return &Archive{name, slices.DeleteFunc(z.File, folder)}, nil
}

// directory limits the bytes that are read while an archive is opened.
type directory struct {
	io.ReaderAt
	left int64
}

func (d *directory) ReadAt(b []byte, at int64) (int, error) {
	if d.left -= int64(len(b)); d.left < 0 {
		return 0, fault(0, "save fewer arrays in one file", "the archive's list of arrays takes more than %d bytes",
			maxDirectory)
	}
	return d.ReaderAt.ReadAt(b, at)
}

// Read reads the array of a key; accept may be nil. The key may be the name of its entry. Errors are of type *Error.
func (a *Archive) Read(key string, accept Accept) (array *Array, err error) {
	found := a.named(key + suffix)
	if found == nil {
		found = a.named(key)
	}
	name := a.name
	switch {
	case len(found) == 0:
		err = fault(0, a.has(), "the archive has no array %q", key)
	case len(found) > 1:
		err = fault(0, "save it again", "the archive has the array %q twice", key)
	case found[0].Flags&1 != 0:
		err = fault(0, "save it without a password", "the array %q is encrypted", key)
	default:
		name += ":" + plain(key)
		array, err = readEntry(found[0], accept)
	}
	return array, inFile(err, name, "the .npz archive is damaged", "copy or save it again")
}

func (a *Archive) named(name string) (found []*zip.File) {
	for _, f := range a.files {
		if f.Name == name {
			found = append(found, f)
		}
	}
	return found
}

func readEntry(f *zip.File, accept Accept) (*Array, error) {
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, fault(0, "save it with numpy.savez or numpy.savez_compressed", "compressed by method %d of zip",
			f.Method)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return read(r, firstChunk, accept)
}

// plain returns a key for a message, shortened if it is long and with special characters escaped.
func plain(key string) string {
	const longest = 80
	if len(key) > longest {
		key = key[:longest] + "..."
	}
	quoted := strconv.Quote(key)
	return quoted[1 : len(quoted)-1]
}

// has lists some keys for a message.
func (a *Archive) has() string {
	const shown = 8
	var keys []string
	for _, f := range a.files {
		keys = append(keys, plain(strings.TrimSuffix(f.Name, suffix)))
	}
	slices.Sort(keys)
	switch n := len(keys); {
	case n == 0:
		return "it has no arrays; save them again with numpy.savez"
	case n > shown:
		return fmt.Sprintf("it has %s and %d more", strings.Join(keys[:shown], ", "), n-shown)
	}
	return "it has " + strings.Join(keys, ", ")
}
