package weights

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Files are the weight files of a program, made of tensors of a safetensors file (Of) or of elements in memory (New).
// They are ane.Weights: for ane.Source.Weights, and for Model.WithWeights, which makes a Model with other weights
// without compiling. They are ane.Mapped too: the software engine reads elements that need no conversion where they
// are, as long as the Model is open. Close of the safetensors file returns unimem.ErrInUse until then.
type Files struct {
	needs  map[string][]constant              // by path
	blocks []*unimem.Block                    // of the tensors
	hold   func() (release func(), err error) // beside the Blocks; nil without
	rest   ane.Weights
	moved  atomic.Int64
	lossy  bool
	mu     sync.Mutex
	notes  []string // of elements that became infinite or NaN, once each
}

// constant is a constant of the program: elements in memory, or a tensor.
type constant struct {
	name   string
	offset uint64
	typ    mil.Type
	data   []byte // nil for a tensor
	tensor safetensors.Tensor
	halves bool // the tensor is converted to fp16
}

// bytes returns the elements where they are, or nil if they have to be moved.
func (c constant) bytes() []byte {
	switch {
	case c.data != nil:
		return c.data
	case c.halves || !c.tensor.Aligned() && c.typ.DType.Bits() > 8:
		return nil
	}
	return c.tensor.Bytes()
}

// New returns Files without constants, for elements that the caller has in memory: Add adds them. hold keeps the
// memory valid until release is called; nil is for memory of the Go heap. rest has the constants that are not added,
// such as those of a build.Program; nil without. mapped are Blocks of mapped files that elements lie in: the Files hold
// them too, and a file that becomes shorter is unimem.ErrChanged.
func New(hold func() (release func(), err error), rest ane.Weights, mapped ...*unimem.Block) *Files {
	return &Files{needs: map[string][]constant{}, hold: hold, rest: rest, blocks: mapped}
}

// Add adds the elements of the constant of type t that the program reads from path at offset. They lie as in Bytes of a
// tensor: dense, row-major, little endian, integers below 8 bits without gaps from the low bits up. It does not copy
// them. All elements are added before the Files are used.
//
// Errors: ane.ErrLength (t needs another number of bytes), and those of blob.Need.Bytes.
func (w *Files) Add(path string, offset uint64, t mil.Type, elements []byte) error {
	size, err := blob.Need{Offset: offset, Type: t}.Bytes()
	if err != nil {
		return err
	}
	if size != int64(len(elements)) || size == 0 {
		return &ane.Error{Op: "weights", Name: path, Err: ane.ErrLength,
			Detail: fmt.Sprintf("%d bytes for %v, which needs %d", len(elements), t, size)}
	}
	w.add(path, constant{name: path, offset: offset, typ: t, data: elements})
	return nil
}

func (w *Files) add(path string, c constant) {
	if w.needs == nil {
		w.needs = map[string][]constant{}
	}
	w.needs[path] = append(w.needs[path], c)
}

// Of finds the tensor of every constant of p whose elements are in a weight file. The name of a
// constant is that of its value in the text. Of reads no tensor: ReadFile does. f must be open
// as long as the Files are used.
//
// Integers of 2 to 8 bits may lie in words of 32 bits, as MLX writes them: a tensor U32 [outputs, inputs*bits/32] for a
// constant uint4 [outputs, inputs].
//
// Elements that become infinite or NaN as fp16 are an error when they are read (safetensors.ErrRange), which names
// constant and tensor and counts them. AllowRange makes them a note.
//
// Of joins its errors. Errors: safetensors.ErrName (no such tensor), ane.ErrMismatch (another shape, where axes of
// length 1 do not matter), ane.ErrType (another type; F32 and BF16 become fp16).
func Of(p *mil.Program, f *safetensors.File, names Names) (*Files, error) {
	w := New(nil, nil)
	var faults []error
	for _, fn := range p.Funcs {
		for op := range fn.Ops() {
			for _, v := range values(op) {
				if err := w.find(f, op, v, names); err != nil {
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

// find adds the constant of a value, whose tensor it finds in f.
func (w *Files) find(f *safetensors.File, op *mil.Op, v *mil.Value, names Names) error {
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
	t, err := f.Tensor(as)
	if err != nil {
		return &ane.Error{Op: what, Name: name, Err: err}
	}
	halves, err := fit(what, name, t, v.Type.DType, shape)
	if err != nil {
		return err
	}
	block, _, err := t.Block()
	if err != nil {
		return &ane.Error{Op: what, Name: name, Err: err}
	}
	if !slices.Contains(w.blocks, block) {
		w.blocks = append(w.blocks, block)
	}
	w.add(path, constant{name: name, offset: offset, typ: v.Type, tensor: t, halves: halves})
	return nil
}

// Constant implements ane.Constants: the elements where they are, or a copy of those that are converted or that do not
// begin at a multiple of an element. The error matches fs.ErrNotExist for a constant that it does not have; others are
// those of ReadFile.
func (w *Files) Constant(path string, offset uint64, t mil.Type) ([]byte, error) {
	for _, c := range w.needs[path] {
		if c.offset != offset || !c.typ.Same(t) {
			continue
		}
		if data := c.bytes(); data != nil {
			return data, nil
		}
		size, err := blob.Need{Offset: c.offset, Type: c.typ}.Bytes()
		if err != nil {
			return nil, err
		}
		data := make([]byte, size)
		return data, w.move(data, c)
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// Blocks implements ane.Mapped.
func (w *Files) Blocks() []*unimem.Block { return slices.Clone(w.blocks) }

// Hold implements ane.Constants: the safetensors file, or the memory of New, stays valid until release is called. The
// error is that of New's hold, or unimem.ErrClosed if the safetensors file is being closed.
func (w *Files) Hold() (release func(), err error) {
	blocks, err := unimem.RetainAll(w.blocks...)
	if err != nil || w.hold == nil {
		return blocks, err
	}
	own, err := w.hold()
	if err != nil {
		blocks()
		return nil, err
	}
	return func() { own(); blocks() }, nil
}

// AllowRange lets elements become infinite or NaN when they are converted, as a mask's may. Receipt.Notes of a Model
// counts them for each constant. It is called before the Files are used.
func (w *Files) AllowRange() { w.lossy = true }

// Remarks are the notes of AllowRange so far; Receipt.Notes ends with them.
func (w *Files) Remarks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.notes)
}

// Moved is the number of bytes copied or converted so far.
func (w *Files) Moved() int64 { return w.moved.Load() }

// ReadFile makes a file: the elements of every constant are copied or converted once, to their place. Constants of the
// same file that only the rest of New has are copied from there. Errors: fs.ErrNotExist (neither the Files nor the rest
// have the path), safetensors.ErrChanged (a mapped file has become shorter), and those of the rest.
func (w *Files) ReadFile(path string) ([]byte, error) {
	needs := w.needs[path]
	rest, err := []byte(nil), error(&fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist})
	if w.rest != nil {
		rest, err = w.rest.ReadFile(path)
	}
	switch {
	case len(needs) == 0 || err != nil && !errors.Is(err, fs.ErrNotExist):
		return rest, err
	case err == nil:
		if needs, err = withRest(path, needs, rest); err != nil {
			return nil, err
		}
	}
	blank := make([]blob.Need, len(needs))
	for i, c := range needs {
		blank[i] = blob.Need{Offset: c.offset, Type: c.typ}
	}
	data, err := blob.Blank(path, ane.MaxBytes, blank)
	if err != nil {
		return nil, err
	}
	for _, c := range needs {
		size, err := blob.Need{Offset: c.offset, Type: c.typ}.Bytes()
		if err != nil {
			return nil, err
		}
		at := int64(c.offset) + blob.First // metadata is as long as the header
		if err := w.move(data[at:at+size:at+size], c); err != nil {
			return nil, fmt.Errorf("constant %s: %w", c.name, err)
		}
	}
	return data, nil
}

// withRest adds the constants of a weight file whose offsets needs does not have.
func withRest(path string, needs []constant, file []byte) ([]constant, error) {
	f, err := blob.NewReader(bytes.NewReader(file), int64(len(file)), path)
	if err != nil {
		return nil, err
	}
	entries, err := f.Entries()
	if err != nil {
		return nil, err
	}
	all := slices.Clone(needs)
	for _, e := range entries {
		if slices.ContainsFunc(needs, func(c constant) bool { return c.offset == e.Offset }) {
			continue
		}
		data, err := f.Data(e)
		if err != nil {
			return nil, err
		}
		elements := (int(e.Size)*8 - e.UnusedBits) / e.Tag.Bits()
		all = append(all, constant{name: path, offset: e.Offset, typ: mil.TensorOf(e.Tag.DType(), elements), data: data})
	}
	return all, nil
}

// move copies or converts the elements of a constant.
func (w *Files) move(dst []byte, c constant) error {
	n, err := copy(dst, c.data), error(nil)
	if c.data == nil {
		n, err = moveTo(dst, c.tensor, c.halves)
	}
	w.moved.Add(int64(n))
	var fault *safetensors.Error
	if !errors.Is(err, safetensors.ErrRange) || !errors.As(err, &fault) {
		return err
	}
	if !w.lossy {
		return &ane.Error{Op: "weights", Name: c.name, Err: err}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	note := fmt.Sprintf("weights: constant %s, tensor %q: %s", c.name, fault.Tensor, fault.Detail)
	if !slices.Contains(w.notes, note) {
		w.notes = append(w.notes, note)
	}
	return nil
}

// moveTo copies or converts a tensor and returns the number of bytes written.
func moveTo(dst []byte, t safetensors.Tensor, halves bool) (int, error) {
	if halves {
		return t.Float16To(dst)
	}
	return t.CopyTo(dst)
}
