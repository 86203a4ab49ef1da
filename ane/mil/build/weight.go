package build

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// WeightFile is the path of the file of all weights, without FilePerWeight.
const WeightFile = blob.WeightFile

// Weight adds a constant of type fp16 whose elements, row-major, go into the weight
// file. It rounds them at once and does not keep the slice. Values that fp16 does not hold
// (blob.LostAs16) get a note.
func (f *Func) Weight(name string, values []float32, shape ...int) Value {
	t := mil.TensorOf(mil.FP16, shape...)
	return f.weight(name, t, func(w *blob.Writer) (uint64, error) {
		if n, _ := t.Elements(); n != len(values) {
			return 0, &mil.Error{Msg: fmt.Sprintf("%d values for %d elements of shape %v", len(values), n, shape),
				Hint: "make both agree"}
		}
		lost := blob.LostAs16(values)
		for _, l := range []struct {
			n    int
			what string
		}{
			{lost.Zero, "are too small for fp16 and become zero"},
			{lost.Infinite, "are beyond the range of fp16 and become infinite"},
			{lost.NaN, "are NaN"},
		} {
			if l.n > 0 {
				f.b.note(fmt.Sprintf("weight %s: %d of %d values %s", quote(name), l.n, len(values), l.what))
			}
		}
		return w.AddFloat32As16(values)
	})
}

// WeightFrom is Weight for gigabytes and for other types: open is called each time the
// weight file is written, and returns a stream of the elements of t, row-major and
// little endian. blob.Float32As16 converts a stream of float32 to fp16.
// Program.WriteDir copies the stream through a small buffer; Program.Weights.ReadFile
// reads it directly into the file.
func (f *Func) WeightFrom(name string, t mil.Type, open func() (io.ReadCloser, error)) Value {
	return f.weight(name, t, func(w *blob.Writer) (uint64, error) { return w.AddStream(t, open) })
}

// Blob adds a constant whose elements are in an existing weight file: the entry at
// offset of the file at path, which starts with blob.ModelPath. The caller passes the
// file to the engine, alone or in blob.Sources with Program.Weights.
func (f *Func) Blob(name string, t mil.Type, path string, offset uint64) Value {
	if !f.claim("weight", name) {
		return f.lost()
	}
	what := "weight " + quote(name)
	if !strings.HasPrefix(path, blob.ModelPath) {
		f.fault(what+": path "+quote(path)+" does not start with "+blob.ModelPath,
			"name weight files relative to the model's directory")
		return f.lost()
	}
	return f.constant(name, what, mil.BlobValue(t, path, offset))
}

// Share makes a weight of another function of this program a weight of f with the same
// name. The file has it once.
func (f *Func) Share(w Value) Value {
	switch n := w.n; {
	case n == nil:
		f.fault("share: no value", "pass what Weight returned")
	case n.f != f && n.f.stray:
		f.fault("share: the value belongs to a zero Func", "make the function with Builder.Func")
	case n.f.b != f.b:
		f.fault("share: the value belongs to another program", "build both with one Builder")
	case n.v == nil:
	case n.lit.Blob() == nil:
		f.fault("share: the value is not a weight", "pass it as an input, or define it in both functions")
	case n.f == f:
		return w
	case f.claim("weight", n.name):
		return f.constant(n.name, "weight "+quote(n.name), n.lit)
	}
	return f.lost()
}

// weight adds a constant of type t; add writes its elements to a file.
func (f *Func) weight(name string, t mil.Type, add func(*blob.Writer) (uint64, error)) Value {
	if !f.claim("weight", name) {
		return f.lost()
	}
	what := "weight " + quote(name)
	path := f.b.file(name)
	v := f.constant(name, what, mil.BlobValue(t, path, 0)) // the offset is set below
	if v.n.v == nil {
		return v
	}
	w := f.b.files[path]
	if w == nil {
		w = &blob.Writer{}
	}
	offset, err := add(w)
	if err != nil {
		if e := (*blob.Error)(nil); errors.As(err, &e) {
			err = &mil.Error{Msg: e.Msg, Hint: e.Hint, Err: err}
		}
		f.refuse(what+": ", err)
		return f.lost()
	}
	if f.b.files == nil {
		f.b.files = blob.Writers{}
	}
	f.b.files[path] = w
	v.n.lit = mil.BlobValue(t, path, offset)
	return v
}

// file returns the path of the file for the weight called name.
func (b *Builder) file(name string) string {
	if !b.apart {
		return WeightFile
	}
	path := blob.ModelPath + "weights/" + name
	for i, tried := 0, path; ; i++ {
		taken := false
		for other := range b.files { // some file systems ignore case
			taken = taken || strings.EqualFold(other, tried+".bin")
		}
		if !taken {
			return tried + ".bin"
		}
		tried = fmt.Sprintf("%s_%d", path, i)
	}
}
