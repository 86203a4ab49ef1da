package build

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// Weight adds a constant of type fp16 whose elements, row-major, go into the weight file. It rounds them at once and
// does not keep the slice. Values that fp16 does not hold (blob.LostAs16) get a note.
func (f *Func) Weight(name string, values []float32, shape ...int) Value {
	t := mil.TensorOf(mil.FP16, shape...)
	return f.weight(name, t, false, func(w *blob.Writer) (uint64, error) {
		if n, _ := t.Elements(); n != len(values) {
			return 0, &mil.Error{Msg: fmt.Sprintf("%d values for %d elements of shape %v", len(values), n, shape),
				Hint: "make both agree"}
		}
		lost := blob.LostAs16(values)
		note := func(n int, what string) {
			if n > 0 {
				f.b.note(fmt.Sprintf("weight %s: %d of %d values %s", quote(name), n, len(values), what))
			}
		}
		note(lost.Zero, "are too small for fp16 and become zero")
		note(lost.Infinite, "are beyond the range of fp16 and become infinite")
		note(lost.NaN, "are NaN")
		return w.AddFloat32As16(values)
	})
}

// WeightFrom is Weight for gigabytes and for other types. Each write of the weight file calls open, which returns a
// stream of the elements of t, row-major and little endian. blob.Float32As16 converts a stream of float32 to fp16.
// Program.WriteDir copies the stream through a small buffer; Program.Weights.ReadFile reads it directly into the file.
// Values that fp16 does not hold end it (blob.ErrRange).
func (f *Func) WeightFrom(name string, t mil.Type, open func() (io.ReadCloser, error)) Value {
	return f.weight(name, t, false, func(w *blob.Writer) (uint64, error) {
		if open == nil {
			return w.AddStream(t, nil)
		}
		return w.AddStream(t, func() (io.ReadCloser, error) {
			r, err := open()
			if r != nil {
				r = named{r, name}
			}
			return r, err
		})
	})
}

// named is a stream whose errors about numbers name the weight.
type named struct {
	io.ReadCloser
	name string
}

func (n named) Read(p []byte) (int, error) {
	done, err := n.ReadCloser.Read(p)
	if errors.Is(err, blob.ErrRange) {
		err = fmt.Errorf("weight %s: %w", quote(n.name), err)
	}
	return done, err
}

// Blob adds a constant whose elements are in an existing weight file: the entry at offset of the file at path, which
// starts with blob.ModelPath. The caller passes the file to the engine, alone or in blob.Sources with Program.Weights.
func (f *Func) Blob(name string, t mil.Type, path string, offset uint64) Value {
	if !strings.HasPrefix(path, blob.ModelPath) {
		return f.fault("weight "+quote(name)+": path "+quote(path)+" does not start with "+blob.ModelPath,
			"name weight files relative to the model's directory")
	}
	f.own()
	f.b.blobs[path] = true
	return f.named("weight", name, mil.BlobValue(t, path, offset))
}

// Share makes a weight of another function of this program a weight of f with the same name. The file has it once.
func (f *Func) Share(w Value) Value {
	switch v := f.ours("share", w); {
	case v == nil:
		return f.lost()
	case v.Literal.Blob() == nil:
		return f.fault("share: the value is not a weight", "pass it as an input, or define it in both functions")
	case w.f == f:
		return w
	default:
		return f.named("weight", v.Name, v.Literal)
	}
}

// weight adds a constant of type t; add writes its elements to a file, of its own if it is alone.
func (f *Func) weight(name string, t mil.Type, alone bool, add func(*blob.Writer) (uint64, error)) Value {
	f.own()
	path := f.b.file(name, alone || f.b.apart)
	v := f.Blob(name, t, path, 0) // the offset is set below
	if v.v == nil {
		return v
	}
	if f.b.files[path] == nil {
		f.b.files[path] = &blob.Writer{}
	}
	offset, err := add(f.b.files[path])
	if err != nil {
		return f.refuse("weight "+quote(name)+": ", err)
	}
	v.v.Literal = mil.BlobValue(t, path, offset)
	return v
}

// file returns the path of the file for the weight called name: one that no file has, if it is there alone.
func (b *Builder) file(name string, alone bool) string {
	if !alone {
		return blob.WeightFile
	}
	path := blob.ModelPath + "weights/" + name
	for i, tried := 0, path; ; i++ {
		taken := false
		for other := range b.blobs { // some file systems ignore case
			taken = taken || strings.EqualFold(other, tried+".bin")
		}
		if !taken {
			return tried + ".bin"
		}
		tried = fmt.Sprintf("%s_%d", path, i)
	}
}
