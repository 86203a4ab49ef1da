package decoder

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/unimem/safetensors"
)

// store makes the weights of programs from those of a folder. What has to be converted is converted once, whichever
// programs need it.
type store struct {
	folder *Folder
	memory *arena

	zeros map[string]*elements // offsets of packed weights that prepare has made
	dense map[string]bool      // packed weights that scale * (integer - offset) in fp16 cannot express

	mu        sync.Mutex
	made      map[string]*elements
	mapped    int64 // bytes of weights that programs take from the mapped file
	converted int64
}

// elements are the elements of one constant.
type elements struct {
	dtype mil.DType
	shape []int
	data  []byte // a part of file, or of the mapped file
	file  []byte // a weight file with data as its only entry; nil for data of the mapped file
}

// kind is what of a module's weight a constant has.
type kind string

const (
	halves  kind = "w" // the matrix or vector as fp16
	bias    kind = "b" // the bias as fp16
	ints    kind = "q" // packed integers as they are stored
	scales  kind = "s" // of ints
	offsets kind = "o" // of ints: the integer that stands for 0, which may be between two
)

// prefix is the length of a weight file before the elements of its only entry.
const prefix = blob.First + 64

// request names elements: rows [from, to) of a module's weight, with rows of zeros behind those that it has.
type request struct {
	module   string
	kind     kind
	from, to int // both 0: all
}

func (r request) key() string { return fmt.Sprintf("%s %s %d %d", r.module, r.kind, r.from, r.to) }

// get returns elements, which it makes at the first call.
func (s *store) get(r request) (*elements, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.made[r.key()]; e != nil {
		return e, nil
	}
	w := s.folder.weights[r.module]
	if w == nil {
		return nil, &Error{Op: "load", Name: r.module, Err: ErrWeights, Detail: "no such module"}
	}
	e, err := s.make(w, r)
	if err != nil {
		return nil, err
	}
	if e.file == nil {
		s.mapped += int64(len(e.data))
	} else {
		s.converted += int64(len(e.data))
	}
	s.made[r.key()] = e
	return e, nil
}

// blank returns elements of zeros with a file of their own, in memory that take returns zeroed.
func blank(take func(int) ([]byte, error), d mil.DType, shape ...int) (*elements, error) {
	n := 1
	for _, length := range shape {
		n *= length
	}
	bits := n * d.Bits()
	size := (bits + 7) / 8
	file, err := take(prefix + size)
	if err != nil {
		return nil, err
	}
	e := &elements{dtype: d, shape: shape, file: file}
	tag, _ := blob.TagOf(d) // there is one for fp16 and for the unsigned types
	head := e.file
	binary.LittleEndian.PutUint32(head, 1)
	binary.LittleEndian.PutUint32(head[4:], 2)
	head = head[blob.First:]
	binary.LittleEndian.PutUint32(head, 0xdeadbeef)
	binary.LittleEndian.PutUint32(head[4:], uint32(tag))
	binary.LittleEndian.PutUint64(head[8:], uint64(size))
	binary.LittleEndian.PutUint64(head[16:], prefix)
	binary.LittleEndian.PutUint64(head[24:], uint64(8*size-bits))
	e.data = e.file[prefix:]
	return e, nil
}

// onHeap is memory of the Go heap, for blank.
func onHeap(n int) ([]byte, error) { return make([]byte, n), nil }

// lent returns elements that are those of a tensor of the mapped file.
func lent(d mil.DType, t safetensors.Tensor, from, to, rowBytes int, shape ...int) *elements {
	return &elements{dtype: d, shape: shape, data: t.Bytes()[from*rowBytes : to*rowBytes : to*rowBytes]}
}

func (s *store) make(w *weight, r request) (*elements, error) {
	from, to := r.from, r.to
	if to == 0 {
		to = w.out
	}
	switch r.kind {
	case bias:
		e, err := blank(s.memory.take, mil.FP16, w.out) // no module with a bias is cut
		if err != nil {
			return nil, err
		}
		return e, store16(e.data, w.name+".bias", w.out,
			func(dst []float32, first int) { numbers(dst, *w.bias, first) })
	case ints:
		return s.integers(w, from, to)
	case scales:
		return s.steps(w, from, to)
	case offsets:
		return s.zeros[w.name], nil // no program has a part of the rows
	}
	n := max(w.in, 1)
	shape := []int{to - from, w.in}
	if w.in == 0 {
		shape = shape[:1]
	}
	if w.bits == 0 && w.data.DType() == safetensors.F16 && w.data.Aligned() && to <= w.out {
		e := lent(mil.FP16, w.data, from, to, 2*n, shape...)
		return e, finite(w.name+".weight", e.data)
	}
	e, err := blank(s.memory.take, mil.FP16, shape...)
	if err != nil {
		return nil, err
	}
	rows := min(to, w.out) - from
	if w.bits == 0 {
		return e, store16(e.data, w.name+".weight", rows*n,
			func(dst []float32, first int) { numbers(dst, w.data, from*n+first) })
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	row := make([]float32, n)
	for i := range rows {
		w.row(row, from+i)
		err = store16(e.data[2*i*n:], w.name+".weight", n, func(dst []float32, first int) { copy(dst, row[first:]) })
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

// check refuses numbers of the weight that are not finite, or not as fp16.
func (w *weight) check() error {
	tensors := []safetensors.Tensor{w.data}
	if w.bits > 0 {
		tensors = []safetensors.Tensor{w.scales, w.shifts}
	}
	var some [1024]float32
	for _, t := range tensors {
		n := int(t.Size()) / t.DType().Size()
		for first := 0; first < n; first += len(some) {
			part := some[:min(len(some), n-first)]
			numbers(part, t, first)
			for i, f := range part {
				if fp16.FromFloat32(f)&0x7c00 == 0x7c00 {
					return notFinite(t.Name(), first+i, f)
				}
			}
		}
	}
	return nil
}

// store16 stores n numbers as fp16 and refuses what is not finite, or not as fp16.
func store16(dst []byte, name string, n int, read func(dst []float32, first int)) error {
	var some [1024]float32
	for first := 0; first < n; first += len(some) {
		part := some[:min(len(some), n-first)]
		read(part, first)
		for i, f := range part {
			h := fp16.FromFloat32(f)
			if h&0x7c00 == 0x7c00 {
				return notFinite(name, first+i, f)
			}
			binary.LittleEndian.PutUint16(dst[2*(first+i):], uint16(h))
		}
	}
	return nil
}

// finite refuses fp16 numbers that are not finite.
func finite(name string, data []byte) error {
	for i := 0; i+1 < len(data); i += 2 {
		if h := binary.LittleEndian.Uint16(data[i:]); h&0x7c00 == 0x7c00 {
			return notFinite(name, i/2, fp16.Bits(h).Float32())
		}
	}
	return nil
}

func notFinite(name string, index int, f float32) error {
	detail := fmt.Sprintf("element %d is %v", index, f)
	if f64 := float64(f); !math.IsNaN(f64) && !math.IsInf(f64, 0) {
		detail += ", beyond fp16"
	}
	return &Error{Op: "load", Name: name, Err: ErrNaN, Detail: detail,
		Hint: "the file is damaged, or its conversion failed"}
}

// dtype is the type of a constant of integers. MIL has none of 5 bits.
func (w *weight) dtype() mil.DType {
	return map[int]mil.DType{2: mil.UInt2, 3: mil.UInt3, 4: mil.UInt4, 5: mil.UInt6, 6: mil.UInt6, 8: mil.UInt8}[w.bits]
}

// integers returns rows of the packed integers: MLX and MIL pack alike, low bits first.
func (s *store) integers(w *weight, from, to int) (*elements, error) {
	if w.bits != 5 && to <= w.out {
		return lent(w.dtype(), w.data, from, to, w.in*w.bits/8, to-from, w.in), nil
	}
	bits := w.dtype().Bits()
	e, err := blank(s.memory.take, w.dtype(), to-from, w.in)
	if err != nil {
		return nil, err
	}
	data := w.data.Bytes()[from*w.in*w.bits/8:]
	for i := range (min(to, w.out) - from) * w.in {
		v, at := packed(data, i, w.bits), i*bits
		e.data[at/8] |= byte(v << (at % 8))
		if at%8+bits > 8 {
			e.data[at/8+1] |= byte(v >> (8 - at%8))
		}
	}
	return e, nil
}

// prepare makes the offsets of all packed weights, for the form Compact, on all processors. It finds scales and shifts
// that are not finite, and weights that have to be written another way.
func (s *store) prepare(ctx context.Context) error {
	var work []*weight
	for _, w := range s.folder.weights {
		if w.bits > 0 {
			work = append(work, w)
		}
	}
	slices.SortFunc(work, func(a, b *weight) int { return strings.Compare(a.name, b.name) })
	errs := make([]error, len(work))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(work) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				w := work[i]
				zeros, fine, err := s.offsets(w)
				errs[i] = err
				s.mu.Lock()
				s.zeros[w.name], s.dense[w.name] = zeros, !fine
				s.mu.Unlock()
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return &Error{Op: "load", Cause: err}
	}
	for _, err := range errs {
		if err != nil {
			return err // the first by name
		}
	}
	return nil
}

// offsets returns the offsets of a packed weight, -shift/scale as fp16. fine is false if scale * (integer - offset) is
// not the number that is meant: the scale of a group is nearly zero beside its numbers, and the offset too large.
func (s *store) offsets(w *weight) (e *elements, fine bool, err error) {
	groups := w.in / w.group
	n := w.out * groups
	if e, err = blank(s.memory.take, mil.FP16, w.out, groups); err != nil {
		return nil, false, err
	}
	fine = true
	top := float32(int(1)<<w.bits - 1)
	var scale, half, shift, zero [1024]float32
	var bits [1024]fp16.Bits
	for first := 0; first < n; first += len(scale) {
		m := min(len(scale), n-first)
		numbers(scale[:m], w.scales, first)
		numbers(shift[:m], w.shifts, first)
		fp16.Encode(bits[:m], scale[:m])
		fp16.Decode(half[:m], bits[:m])
		for i, h := range half[:m] {
			if math.Abs(float64(h)) > 65504 || h != h {
				return nil, false, notFinite(w.scales.Name(), first+i, scale[i])
			}
			if b := shift[i]; !(b <= 65504 && b >= -65504) {
				return nil, false, notFinite(w.shifts.Name(), first+i, b)
			}
			if zero[i] = 0; h != 0 {
				zero[i] = -shift[i] / h
			}
		}
		fp16.Encode(bits[:m], zero[:m])
		fp16.Decode(zero[:m], bits[:m])
		for i, o := range zero[:m] {
			low, high := shift[i], scale[i]*top+shift[i]
			limit := max(abs(low), abs(high)) / 1024
			if !(abs(-half[i]*o-low) <= limit && abs(half[i]*(top-o)-high) <= limit) {
				fine = false
			}
			binary.LittleEndian.PutUint16(e.data[2*(first+i):], uint16(bits[i]))
		}
	}
	return e, fine, nil
}

func abs(f float32) float32 { return float32(math.Abs(float64(f))) }

// steps returns the scales of rows of groups.
func (s *store) steps(w *weight, from, to int) (*elements, error) {
	groups := w.in / w.group
	rows := min(to, w.out) - from
	if w.scales.DType() == safetensors.F16 && w.scales.Aligned() && to <= w.out {
		return lent(mil.FP16, w.scales, from, to, 2*groups, to-from, groups), nil // offsets has checked them
	}
	e, err := blank(s.memory.take, mil.FP16, to-from, groups)
	if err != nil {
		return nil, err
	}
	return e, store16(e.data, w.name+".scales", rows*groups,
		func(dst []float32, first int) { numbers(dst, w.scales, from*groups+first) })
}

// files are the weight files of one program: one for each constant, as compilers for M1 want it.
type files map[string]*elements

// ReadFile implements ane.Weights.
func (f files) ReadFile(path string) ([]byte, error) {
	e := f[path]
	if e == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if e.file != nil {
		return e.file, nil
	}
	whole, err := blank(onHeap, e.dtype, e.shape...)
	if err != nil {
		return nil, err
	}
	copy(whole.data, e.data)
	return whole.file, nil
}

// Constant implements ane.Constants: an engine that reads weights where they are takes them from the mapped file, or
// from the memory that they were converted to.
func (f files) Constant(path string, offset uint64, _ mil.Type) ([]byte, error) {
	if e := f[path]; e != nil && offset == blob.First {
		return e.data, nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}
