package weights

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Files are the weight files of a program, made of tensors of a safetensors file. They are
// ane.Weights: for ane.Source.Weights, and for Model.WithWeights, which makes a Model with other
// weights without compiling. They are ane.Mapped too: the software engine reads tensors that need no conversion from
// the file's own pages as long as the Model is open, and Close of the safetensors file returns unimem.ErrInUse until
// then.
type Files struct {
	file  *safetensors.File
	paths []string // in the order of the text
	needs map[string][]constant
	moved atomic.Int64
}

// constant is a constant of the program.
type constant struct {
	name   string
	offset uint64
	typ    mil.Type
	tensor safetensors.Tensor
	halves bool
}

// Of finds the tensor of every constant of p whose elements are in a weight file. The name of a
// constant is that of its value in the text. Of reads no tensor: ReadFile does. f must be open
// as long as the Files are used.
//
// Integers of 2 to 8 bits may lie in words of 32 bits, as MLX writes them: a tensor U32 [outputs, inputs*bits/32] for a
// constant uint4 [outputs, inputs].
//
// Errors, joined: safetensors.ErrName (no such tensor), ane.ErrMismatch (another shape, where axes of
// length 1 do not matter), ane.ErrType (another type; F32 and BF16 become fp16).
func Of(p *mil.Program, f *safetensors.File, names Names) (*Files, error) {
	w := &Files{file: f, needs: map[string][]constant{}}
	var faults []error
	for _, fn := range p.Funcs {
		for _, op := range fn.Body {
			for _, v := range values(op) {
				if err := w.add(op, v, names); err != nil {
					faults = append(faults, err)
				}
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return w, nil
}

// values lists the values of an operator that are in weight files.
func values(op *mil.Op) []*mil.Value {
	one := mil.Program{Funcs: []*mil.Function{{Body: []*mil.Op{op}}}}
	return one.Weights()
}

func (w *Files) add(op *mil.Op, v *mil.Value, names Names) error {
	const what = "weights"
	path, offset, err := v.Blob().Entry()
	if err != nil {
		return &ane.Error{Op: what, Err: err}
	}
	name := ""
	if len(op.Results) > 0 {
		name = op.Results[0].Name
	}
	shape, ok := v.Type.Shape()
	if !ok {
		return &ane.Error{Op: what, Name: name, Err: ane.ErrShape, Detail: v.Type.String()}
	}
	as := names.of(name)
	if as == "" {
		return &ane.Error{Op: what, Name: name, Err: safetensors.ErrName, Detail: "no tensor belongs to this constant",
			Hint: "have Names return the tensor of every constant in a weight file"}
	}
	t, err := w.file.Tensor(as)
	if err != nil {
		return &ane.Error{Op: what, Name: name, Err: err}
	}
	halves, err := fit(what, name, t, v.Type.DType, shape)
	if err != nil {
		return err
	}
	if w.needs[path] == nil {
		w.paths = append(w.paths, path)
	}
	w.needs[path] = append(w.needs[path], constant{name, offset, v.Type, t, halves})
	return nil
}

// Constant implements ane.Constants: the tensor's own bytes, or a copy of those that are converted or that do not begin
// at a multiple of an element.
func (w *Files) Constant(path string, offset uint64, t mil.Type) ([]byte, error) {
	for _, c := range w.needs[path] {
		if c.offset != offset || c.typ.String() != t.String() {
			continue
		}
		if data := c.tensor.Bytes(); !c.halves && data != nil && (c.tensor.Aligned() || c.typ.DType.Bits() <= 8) {
			return data, nil
		}
		size, err := blob.Need{Offset: c.offset, Type: c.typ}.Bytes()
		if err != nil {
			return nil, err
		}
		data := make([]byte, size)
		n, err := moveTo(data, c.tensor, c.halves)
		w.moved.Add(int64(n))
		return data, err
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// Blocks implements ane.Mapped.
func (w *Files) Blocks() []*unimem.Block {
	var all []*unimem.Block
	for _, path := range w.paths {
		for _, c := range w.needs[path] {
			if b, _, err := c.tensor.Block(); err == nil && !slices.Contains(all, b) {
				all = append(all, b)
			}
		}
	}
	return all
}

// Hold implements ane.Constants: the safetensors file stays open until release is called.
func (w *Files) Hold() (release func(), err error) {
	var held []*unimem.Block
	release = func() {
		for _, b := range held {
			b.Release()
		}
	}
	for _, b := range w.Blocks() {
		if err := b.Retain(); err != nil {
			release()
			return nil, err
		}
		held = append(held, b)
	}
	return release, nil
}

// Paths lists the files as the program writes them, in the order of the text.
func (w *Files) Paths() []string { return append([]string(nil), w.paths...) }

// Moved is the number of bytes copied or converted so far.
func (w *Files) Moved() int64 { return w.moved.Load() }

// ReadFile makes a file: every tensor is copied or converted once, to its place. The error
// matches fs.ErrNotExist for a path that the program does not have, and safetensors.ErrChanged for a
// mapped file that has become shorter.
func (w *Files) ReadFile(path string) ([]byte, error) {
	needs, ok := w.needs[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	blank := make([]blob.Need, len(needs))
	for i, c := range needs {
		blank[i] = blob.Need{Offset: c.offset, Type: c.typ}
	}
	data, err := blob.Blank(path, math.MaxInt, blank)
	if err != nil {
		return nil, err
	}
	for _, c := range needs {
		size, err := blob.Need{Offset: c.offset, Type: c.typ}.Bytes()
		if err != nil {
			return nil, err
		}
		at := int64(c.offset) + blob.First // metadata is as long as the header
		n, err := moveTo(data[at:at+size:at+size], c.tensor, c.halves)
		w.moved.Add(int64(n))
		if err != nil {
			return nil, fmt.Errorf("constant %s: %w", c.name, err)
		}
	}
	return data, nil
}

// moveTo copies or converts a tensor and returns the number of bytes written.
func moveTo(dst []byte, t safetensors.Tensor, halves bool) (int, error) {
	if halves {
		return t.Float16To(dst)
	}
	return t.CopyTo(dst)
}

// WriteDir writes every file below dir, the folder of the model: "@model_path/weights/w.bin" is
// dir/weights/w.bin. A path that is not below it is refused.
func (w *Files) WriteDir(dir string) error {
	for _, path := range w.paths {
		name, ok := strings.CutPrefix(path, blob.ModelPath)
		if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
			return &ane.Error{Op: "write weights", Name: path, Err: ane.ErrName,
				Detail: "the path is not below " + blob.ModelPath}
		}
		data, err := w.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(cmp.Or(dir, "."), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := wholefile.Replace(to, func(f io.Writer) error { _, err := f.Write(data); return err }); err != nil {
			return err
		}
	}
	return nil
}
