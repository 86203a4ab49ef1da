package ops

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/element"
)

// weightFile is a weight file with its bytes. Any number of constants may name the
// same entry and alias its bytes.
type weightFile struct {
	*blob.File
	data  []byte
	noted int // number of the reader's warnings that became notes

	unpacked map[packed][]byte // elements below 8 bits, a byte each
	expanded int               // bytes of unpacked
}

// packed names elements below 8 bits in a file.
type packed struct {
	at   int64
	n    int
	kind mil.DType
}

// tensor returns the elements of type t in the entry at offset.
func (f *weightFile) tensor(offset uint64, t mil.Type) ([]byte, error) {
	e, err := f.Find(offset, t)
	if err != nil {
		return nil, err
	}
	end := e.DataOffset + e.Size
	data := f.data[e.DataOffset:end:end]
	if t.DType.Size() == 0 {
		return f.unpack(data, e.DataOffset, t)
	}
	return data, nil
}

// unpack gives each element below 8 bits a byte, once for each entry. Entries that share their bytes must not make a
// small file take any amount of memory.
func (f *weightFile) unpack(data []byte, at int64, t mil.Type) ([]byte, error) {
	n, _ := t.Elements()
	key := packed{at, n, t.DType}
	if have := f.unpacked[key]; have != nil {
		return have, nil
	}
	if f.expanded += n; f.expanded > 8*len(f.data) {
		return nil, &blob.Error{Offset: at,
			Msg: "entries of this file share their bytes and take more memory than all " +
				"bits of the file", Hint: "write each entry once", Err: blob.ErrSize}
	}
	if f.unpacked == nil {
		f.unpacked = map[packed][]byte{}
	}
	f.unpacked[key] = element.Unpack(t.DType, data, n)
	return f.unpacked[key], nil
}

// weight reads the entry of a weight file that b names.
func (a *analysis) weight(v *Value, m *mil.Value, b *mil.Blob) *Value {
	path, err := b.Path.Strings()
	if err != nil {
		a.wrap(b.Path.Pos, err)
		return nil
	}
	offset, err := b.Offset.Ints()
	if err != nil {
		a.wrap(b.Offset.Pos, err)
		return nil
	}
	if len(path) != 1 || len(offset) != 1 || offset[0] < 0 {
		a.fail(b.Pos, "write BLOBFILE(path = string(\"..\"), offset = uint64(64))",
			"BLOBFILE needs one path and one offset")
		return nil
	}
	if element.Size(v.DType) == 0 {
		a.fail(m.Pos, "use a type of numbers", "weights of type %s are not supported", v.DType)
		return nil
	}
	if climbs(path[0]) {
		a.fail(b.Path.Pos, "name a file below @model_path, without ..",
			"weights %s are not inside the model's directory",
			path[0])
		return nil
	}
	if a.survey {
		return v
	}
	w := &Weight{Value: v, Type: m.Type, Path: path[0], Offset: uint64(offset[0]), Pos: b.Pos}
	e, err := a.entry(w)
	if err == nil {
		v.Data, v.Stored = e.Data, e.Stored
		w.Notes = e.Notes
		for _, n := range w.Notes {
			a.note(n)
		}
	}
	if err != nil {
		a.faults.Add(w.fault(err))
		return nil
	}
	v.weight = w
	a.graph.Weights = append(a.graph.Weights, w)
	return v
}

// entry reads the elements of w, from a Constants if the weights are one, else from the file.
func (a *analysis) entry(w *Weight) (e Entry, err error) {
	if e, ok, err := constantOf(a.weights, w, a.stored && packs(w.Type.DType)); ok {
		return e, err
	}
	f, err := a.open(w.Path)
	if err != nil {
		return e, err
	}
	e, err = f.entry(w, a.stored && packs(w.Type.DType))
	e.Notes = f.warned(a.file, w)
	return e, err
}

// packs reports whether AnalyzeStored leaves elements of a type packed.
func packs(d mil.DType) bool { return d.Bits() >= 2 && d.Bits() < 8 }

// entry is tensor, packed if stored.
func (f *weightFile) entry(w *Weight, stored bool) (e Entry, err error) {
	if !stored {
		e.Data, err = f.tensor(w.Offset, w.Type)
		return e, err
	}
	found, err := f.Find(w.Offset, w.Type)
	if err != nil {
		return e, err
	}
	end := found.DataOffset + found.Size
	e.Stored = f.data[found.DataOffset:end:end]
	return e, nil
}

// constantOf asks weights that are Constants for the elements of w. ok is false if the file has them.
func constantOf(weights Weights, w *Weight, stored bool) (e Entry, ok bool, err error) {
	c, ok := weights.(Constants)
	if !ok {
		return e, false, nil
	}
	data, err := c.Constant(w.Path, w.Offset, w.Type)
	if errors.Is(err, fs.ErrNotExist) {
		return e, false, nil
	}
	if err != nil {
		return e, true, err
	}
	n, ok := w.Type.Elements()
	if need := (n*w.Type.DType.Bits() + 7) / 8; !ok || len(data) != need {
		return e, true, &blob.Error{File: w.Path, Offset: int64(w.Offset), Err: blob.ErrSize,
			Msg:  fmt.Sprintf("%d bytes where %v needs %d", len(data), w.Type, need),
			Hint: "give the elements of the constant and nothing else"}
	}
	e.Kept = true
	switch {
	case stored:
		e.Stored = data
	case w.Type.DType.Size() == 0:
		e.Data = element.Unpack(w.Type.DType, data, n)
	default:
		e.Data = data
	}
	return e, true, nil
}

// warned returns the reader's new warnings as notes at the place of w.
func (f *weightFile) warned(file string, w *Weight) []string {
	var notes []string
	for _, text := range f.Warnings()[f.noted:] {
		notes = append(notes, fmt.Sprintf("%s:%s: weights %s: %s", file, w.Pos, w.Path, text))
		f.noted++
	}
	return notes
}

// fault returns err as a fault at the place of w.
func (w *Weight) fault(err error) *mil.Error {
	msg, hint := "weights "+w.Path+": "+err.Error(), "check the path and the source of the weights"
	if e := (*blob.Error)(nil); errors.As(err, &e) { // names the file and the fix itself
		bare := *e
		bare.Hint = ""
		msg, hint = "weights "+bare.Error(), e.Hint
	}
	return &mil.Error{Pos: w.Pos, Msg: msg, Hint: hint, Err: err}
}

// Fault returns err, of reading the weight file of w, as a fault of the program called file at the place of w.
func (w *Weight) Fault(file string, err error) *mil.Error {
	f := w.fault(err)
	f.File = file
	return f
}

// open returns the weight file at path, opened once.
func (a *analysis) open(path string) (*weightFile, error) {
	if f := a.files[path]; f != nil {
		return f, nil
	}
	if a.weights == nil {
		return nil, fmt.Errorf("no weights were given; give a source of %s", path)
	}
	data, err := a.weights.ReadFile(path)
	if err != nil {
		return nil, err
	}
	// Compiling copies weights into the model, as on the hardware. The caller may
	// change its bytes afterwards.
	w, err := read(slices.Clone(data), path)
	if err != nil {
		return nil, err
	}
	a.files[path] = w
	return w, nil
}

// read opens a weight file in memory.
func read(data []byte, path string) (*weightFile, error) {
	f, err := blob.NewReader(bytes.NewReader(data), int64(len(data)), path)
	if err != nil {
		return nil, err
	}
	return &weightFile{File: f, data: data}, nil
}

// climbs reports whether a path leads out of the directory that it starts from, with
// slashes or, as on Windows, backslashes.
func climbs(name string) bool {
	for _, s := range []string{name, strings.ReplaceAll(name, "\\", "/")} {
		s = strings.TrimPrefix(s, "@model_path")
		if s = path.Clean(strings.TrimLeft(s, "/")); s == ".." || strings.HasPrefix(s, "../") {
			return true
		}
	}
	return false
}
