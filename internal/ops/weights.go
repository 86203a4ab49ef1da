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

// Constants are a Source that gives single constants in place. The Graph keeps their bytes instead of a copy, so they
// must neither change nor be freed while it is used.
type Constants interface {
	blob.Source
	// Constant returns the elements of a constant of type t that the program reads from path at offset. They have the
	// form of a weight file: dense, little endian, integers below 8 bits without gaps from the low bits up. The
	// elements of a constant for which the error matches fs.ErrNotExist are read from the file of ReadFile.
	Constant(path string, offset uint64, t mil.Type) ([]byte, error)
}

// Weight is a constant that was read from a weight file. It describes what a
// replacement file must contain, so that the program need not be analyzed again.
type Weight struct {
	Value  *Value // nil for another function than the Graph's: only the type has to fit
	Name   string // name of the constant, "constant" if it has none
	Type   mil.Type
	Path   string // path of the file, as the program writes it
	Offset uint64 // offset of the entry in the file
	Pos    mil.Pos
	// Taken holds the elements when an operator uses them as a setting, such as an
	// axis: the Graph is valid only for these elements. nil when only the type matters.
	Taken []byte
	Notes []string // the entries of Graph.Notes about this constant's file
}

// take returns the elements of a constant. It records that the Graph depends on them, if they are from a file.
func (v *Value) take() []float64 {
	if w := v.weight; w != nil && w.Taken == nil {
		w.Taken = slices.Clone(v.Data)
	}
	return v.Floats()
}

// Fault returns err, of reading the weight file of w, as a fault of the program called file at the place of w.
func (w *Weight) Fault(file string, err error) *mil.Error {
	msg, hint := "weights "+w.Path+": "+err.Error(), "check the path and the source of the weights"
	if e := (*blob.Error)(nil); errors.As(err, &e) { // names the file and the fix itself
		bare := *e
		bare.Hint = ""
		msg, hint = "weights "+bare.Error(), e.Hint
	}
	return &mil.Error{File: file, Pos: w.Pos, Msg: msg, Hint: hint, Err: err}
}

// Unusable are the faults of weight files that cannot be used at all, by path: one for each file.
type Unusable map[string]*unusable

type unusable struct {
	fault *mil.Error
	msg   string
	n     int // constants of the file
}

// Fault returns the fault of w as Weight.Fault does; nil if the file has one already, which then counts w too.
func (u Unusable) Fault(file string, w *Weight, err error) *mil.Error {
	if f := u[w.Path]; f != nil {
		f.n++
		f.fault.Msg = fmt.Sprintf("%s (%d constants)", f.msg, f.n)
		return nil
	}
	fault := w.Fault(file, err)
	u[w.Path] = &unusable{fault, fault.Msg, 1}
	return fault
}

// Entry is the content of another file in place of a Weight.
type Entry struct {
	Data   []byte   // the dense elements, aliasing the file; nil when there is no such file
	Stored []byte   // instead of Data where Value.Stored has the elements of the Graph
	Kept   bool     // the bytes are those of Constants: they stay, and need no copy
	Notes  []string // like Graph.Notes
}

// Reread reads the entries of list from other files, with the same checks as Analyze. It reads each file once. A file
// is missing when weights is nil or the error of ReadFile matches fs.ErrNotExist. The Entries are in the order of list.
// file is the name used in messages. Faults are like those of Analyze; a faulty Entry has no Data.
func Reread(file string, list []*Weight, weights blob.Source) ([]Entry, mil.ErrorList) {
	entries := make([]Entry, len(list))
	if weights == nil {
		return entries, nil
	}
	var faults mil.ErrorList
	files := newWeightFiles(weights, file)
	for i, w := range list {
		e, err := files.entry(w, w.Value != nil && w.Value.Stored != nil)
		if w.Value == nil {
			e.Notes = nil
		}
		if entries[i] = e; err != nil && !errors.Is(err, fs.ErrNotExist) {
			files.fault(&faults, w, err)
		}
		if len(faults) > mil.MaxFaults {
			break // Merge adds the fault "too many faults"
		}
	}
	return entries, faults.Merge(nil)
}

// weightFiles reads weights, each file once.
type weightFiles struct {
	weights blob.Source
	name    string // of the program, for messages
	copied  bool   // the caller may change its bytes afterwards
	opened  map[string]*weightFile
	broken  Unusable
}

func newWeightFiles(weights blob.Source, program string) *weightFiles {
	return &weightFiles{weights: weights, name: program, opened: map[string]*weightFile{}, broken: Unusable{}}
}

// fault adds the fault err of w to a list. What is wrong with a file is told once, not for each constant.
func (r *weightFiles) fault(list *mil.ErrorList, w *Weight, err error) {
	fault := (*mil.Error)(nil)
	if f := r.opened[w.Path]; f != nil && f.err != nil {
		fault = r.broken.Fault(r.name, w, err)
	} else {
		fault = w.Fault(r.name, err)
	}
	if fault != nil {
		list.Add(fault)
	}
}

// weightFile is a weight file with its bytes. Any number of constants may name the same entry and alias its bytes.
type weightFile struct {
	*blob.File
	err   error // of reading it
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

// entry reads the elements of w: packed if stored, else an element of less than 8 bits in each byte.
func (r *weightFiles) entry(w *Weight, stored bool) (e Entry, err error) {
	data, err := r.kept(w)
	f, at := &weightFile{data: data}, int64(0)
	if e.Kept = !errors.Is(err, fs.ErrNotExist); !e.Kept {
		f = r.open(w.Path)
		data, at, err = f.find(w, r.name, &e)
	}
	switch {
	case err != nil:
	case stored:
		e.Stored = data
	case w.Type.DType.Size() == 0:
		e.Data, err = f.unpack(data, at, w.Type)
	default:
		e.Data = data
	}
	return e, err
}

// find returns the elements of w and their offset, and adds the reader's new warnings to the notes of e.
func (f *weightFile) find(w *Weight, program string, e *Entry) (data []byte, at int64, err error) {
	if f.err != nil {
		return nil, 0, f.err
	}
	found, err := f.Find(w.Offset, w.Type)
	for _, text := range f.Warnings()[f.noted:] {
		e.Notes = append(e.Notes, fmt.Sprintf("%s:%s: weights %s: %s", program, w.Pos, w.Path, text))
		f.noted++
	}
	if err != nil {
		return nil, 0, err
	}
	end := found.DataOffset + found.Size
	return f.data[found.DataOffset:end:end], found.DataOffset, nil
}

// open returns the weight file at path, opened once.
func (r *weightFiles) open(path string) *weightFile {
	if f := r.opened[path]; f != nil {
		return f
	}
	f := &weightFile{}
	r.opened[path] = f
	if r.weights == nil {
		f.err = fmt.Errorf("no weights were given; give a source of %s", path)
		return f
	}
	if f.data, f.err = r.weights.ReadFile(path); f.err != nil {
		return f
	}
	if r.copied { // compiling copies weights into the model, as on the hardware
		f.data = slices.Clone(f.data)
	}
	f.File, f.err = blob.NewReader(bytes.NewReader(f.data), int64(len(f.data)), path)
	return f
}

// kept returns the elements of w that Constants keep; the error is fs.ErrNotExist if there are none.
func (r *weightFiles) kept(w *Weight) ([]byte, error) {
	c, ok := r.weights.(Constants)
	if !ok {
		return nil, fs.ErrNotExist
	}
	data, err := c.Constant(w.Path, w.Offset, w.Type)
	n, fixed := w.Type.Elements()
	if need := (n*w.Type.DType.Bits() + 7) / 8; err == nil && (!fixed || len(data) != need) {
		err = &blob.Error{File: w.Path, Offset: int64(w.Offset), Err: blob.ErrSize,
			Msg:  fmt.Sprintf("%d bytes where %v needs %d", len(data), w.Type, need),
			Hint: "give the elements of the constant and nothing else"}
	}
	return data, err
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
			Msg:  "entries of this file share their bytes and take more memory than all bits of the file",
			Hint: "write each entry once", Err: blob.ErrSize}
	}
	if f.unpacked == nil {
		f.unpacked = map[packed][]byte{}
	}
	f.unpacked[key] = element.Unpack(t.DType, data, n)
	return f.unpacked[key], nil
}

// weight reads the entry of a weight file that b names.
func (a *analysis) weight(v *Value, m *mil.Value, b *mil.Blob) *Value {
	if b == nil || b.Path == nil || b.Offset == nil { // in a program that was made in Go
		a.fail(m.Pos, `write BLOBFILE(path = string(".."), offset = uint64(64))`,
			"BLOBFILE needs one path and one offset")
		return nil
	}
	file, offset, err := b.Entry()
	if err != nil {
		a.wrap(m.Pos, err)
		return nil
	}
	if element.Size(v.DType) == 0 {
		a.fail(m.Pos, "use a type of numbers", "weights of type %s are not supported", v.DType)
		return nil
	}
	if a.files == nil { // a Survey or a Constant
		return v
	}
	if climbs(file) {
		a.fail(b.Path.Pos, "name a file below @model_path, without ..",
			"weights %s are not inside the model's directory", file)
		return nil
	}
	w := &Weight{Value: v, Name: v.Name, Type: m.Type, Path: file, Offset: offset, Pos: b.Pos}
	bits := w.Type.DType.Bits()
	e, err := a.files.entry(w, a.stored && bits >= 2 && bits < 8)
	for _, n := range e.Notes {
		a.graph.note(n)
	}
	if w.Notes = e.Notes; err != nil {
		a.files.fault(&a.faults, w, err)
		return nil
	}
	v.Data, v.Stored, v.weight = e.Data, e.Stored, w
	a.graph.Weights = append(a.graph.Weights, w)
	return v
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
