package build

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// Tensor is a tensor of a file, such as one of package unimem/safetensors.
type Tensor interface {
	Name() string
	Shape() []int
	// Format is the type of the elements as safetensors files name it, such as "F16".
	Format() string
	// Size is the number of bytes of the elements.
	Size() int64
	// CopyTo copies the elements, dense, row-major and little endian.
	CopyTo(dst []byte) (int, error)
	// Float16To converts elements F32 and BF16 to fp16. The error names the tensor; it is one for elements that become
	// infinite or NaN too.
	Float16To(dst []byte) (int, error)
}

// formats has the type of a weight by the Format of its tensor.
var formats = map[string]mil.DType{
	"F16": mil.FP16, "F32": mil.FP16, "BF16": mil.FP16, "I8": mil.Int8, "U8": mil.UInt8, "I16": mil.Int16,
	"U16": mil.UInt16, "I32": mil.Int32, "U32": mil.UInt32,
}

// WeightOf adds a constant whose elements are those of a tensor of a file, in a weight file of its own. Its name is
// that of the tensor, with _ for characters that a name cannot have.
//
// The software engine reads F16 and integers from the tensor's memory, without a copy, and the tensor's file stays open
// as long as the Model. Other engines, and Program.WriteDir, copy them. F32 and BF16 are converted to fp16 whenever the
// weight file is read; elements that become infinite or NaN are an error then. Other formats are faults.
func (f *Func) WeightOf(t Tensor) Value {
	if t == nil {
		return f.fault("weight: no tensor", "pass a tensor of a file")
	}
	d, ok := formats[t.Format()]
	if t.Name() == "" && !ok {
		return f.fault("weight: the zero tensor", "check the error of the call that finds the tensor in its file")
	}
	if !ok {
		return f.fault(fmt.Sprintf("weight %s: no weight has elements %s", quote(t.Name()), t.Format()),
			"use WeightFrom with a stream that converts them")
	}
	typ := mil.TensorOf(d, t.Shape()...)
	converted := t.Format() == "F32" || t.Format() == "BF16"
	v := f.weight(identifier(t.Name()), typ, true, func(w *blob.Writer) (uint64, error) {
		return w.AddStream(typ, func() (io.ReadCloser, error) {
			if converted {
				return halves(t, typ)
			}
			b := make([]byte, t.Size())
			_, err := t.CopyTo(b)
			return io.NopCloser(bytes.NewReader(b)), err
		})
	})
	if v.v != nil && !converted {
		path, _, _ := v.v.Literal.Blob().Entry() // weight wrote it
		f.b.lent[path] = t
	}
	return v
}

// halves converts a tensor to fp16.
func halves(t Tensor, typ mil.Type) (io.ReadCloser, error) {
	n, _ := typ.Elements()
	b := make([]byte, 2*n)
	if _, err := t.Float16To(b); err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// identifier makes a name of MIL of the name of a tensor.
func identifier(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 128 && (r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, name)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// Lent returns the tensors of WeightOf that are not converted, by the path of their weight files. Package ane uses
// them to read the weights where they are.
func (p *Program) Lent() map[string]any {
	if p == nil {
		return nil
	}
	return maps.Clone(p.lent)
}
