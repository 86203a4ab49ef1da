package decoder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem/safetensors"
)

// weight is the tensors of a module: a matrix [out, in], as it is or in groups. A vector is one row.
type weight struct {
	name    string // of the module
	out, in int
	data    safetensors.Tensor // of packed integers, if bits is above 0
	bias    *safetensors.Tensor

	// Element i of a row is scale*integer + shift, with the scale and the shift of group i/group.
	bits, group    int
	scales, shifts safetensors.Tensor
}

// tensors lists the tensors of the weight.
func (w *weight) tensors() []safetensors.Tensor {
	all := []safetensors.Tensor{w.data}
	if w.bits > 0 {
		all = append(all, w.scales, w.shifts)
	}
	if w.bias != nil {
		all = append(all, *w.bias)
	}
	return all
}

// bytes is the size of the weight as stored.
func (w *weight) bytes() (n int64) {
	for _, t := range w.tensors() {
		n += t.Size()
	}
	return n
}

// module finds the tensors of a part of the model and checks their shapes.
func (f *Folder) module(m module) (*weight, error) {
	w := &weight{name: m.name, out: 1, in: m.shape[len(m.shape)-1]}
	if len(m.shape) > 1 {
		w.out = m.shape[0]
	}
	if m.bias {
		t, err := f.dense(m.name+".bias", m.shape[0])
		if err != nil {
			return nil, err
		}
		w.bias = &t
	}
	scales, err := f.file.Tensor(f.stored(m.name) + ".scales")
	if err != nil || m.dense {
		w.data, err = f.dense(m.name+".weight", m.shape...)
		return w, err
	}
	w.scales = scales
	w.group, w.bits = f.config.quantization.of(m.name, f.stored(m.name))
	if w.bits == 0 {
		return nil, &Error{Base: errtext.Base{Op: "open", Err: ErrWeights,
			Detail: "the module has groups, but config.json does not say of what size", Hint: "add quantization"},
			Name: m.name + ".scales"}
	}
	if w.in%w.group != 0 {
		return nil, &Error{Base: errtext.Base{Op: "open", Err: ErrWeights,
			Detail: fmt.Sprintf("rows of %d elements are not a multiple of groups of %d", w.in, w.group)}, Name: m.name}
	}
	if w.data, err = f.tensor(m.name+".weight", w.out, w.in*w.bits/32); err != nil {
		return nil, err
	}
	if w.data.DType() != safetensors.U32 {
		return nil, typeFault(w.data, "U32")
	}
	if w.scales, err = f.dense(m.name+".scales", w.out, w.in/w.group); err != nil {
		return nil, err
	}
	w.shifts, err = f.dense(m.name+".biases", w.out, w.in/w.group)
	return w, err
}

// dense returns a tensor of numbers.
func (f *Folder) dense(name string, shape ...int) (safetensors.Tensor, error) {
	t, err := f.tensor(name, shape...)
	if err != nil {
		return t, err
	}
	if !slices.Contains([]safetensors.DType{safetensors.F32, safetensors.BF16, safetensors.F16}, t.DType()) {
		return t, typeFault(t, "F32, BF16 or F16")
	}
	return t, nil
}

func typeFault(t safetensors.Tensor, want string) error {
	return &Error{Base: errtext.Base{Op: "open", Err: ErrWeights, Detail: fmt.Sprintf("%v is not %s", t.DType(), want)},
		Name: t.Name()}
}

// cacheType is the element type of keys and values: the one that the key projection computes in, or fp16 for bf16 and
// fp32, in which no program of this package computes.
func (f *Folder) cacheType() mil.DType {
	types := map[safetensors.DType]mil.DType{safetensors.F16: mil.FP16, safetensors.BF16: mil.BF16,
		safetensors.F32: mil.FP32, safetensors.U32: mil.UInt32}
	k, scales := f.weights[layerName(0, "self_attn.k_proj")], mil.NoType
	if k.bits > 0 {
		scales = types[k.scales.DType()]
	}
	d := kv.DTypeFor(scales, types[k.data.DType()])
	if d == mil.BF16 || d == mil.FP32 {
		return mil.FP16
	}
	return d
}

// tensor returns a tensor of the file after checking its shape.
func (f *Folder) tensor(name string, shape ...int) (safetensors.Tensor, error) {
	name = f.stored(name)
	t, err := f.file.Tensor(name)
	switch {
	case errors.Is(err, safetensors.ErrName):
		return t, &Error{Base: errtext.Base{Op: "open", Err: ErrWeights, Detail: "no such tensor in " + f.file.Path()},
			Name: name}
	case err != nil:
		return t, &Error{Base: errtext.Base{Op: "open", Err: ErrWeights, Cause: err}, Name: name}
	case !slices.Equal(t.Shape(), shape):
		return t, &Error{Base: errtext.Base{Op: "open", Err: ErrWeights,
			Detail: fmt.Sprintf("shape %v, where %s implies %v", t.Shape(), configFile, shape)}, Name: name}
	}
	return t, nil
}

// matrix is a matrix of numbers in the files.
type matrix struct {
	name    string // of its tensor
	out, in int
	tensor  *safetensors.Tensor                // nil for integers in groups
	packed  *weight                            // of integers in groups, else nil
	read    func(dst []float32, row, from int) // stores elements of a row from the one at index from on
}

// matrix returns the numbers of a weight.
func (w *weight) matrix() matrix {
	m := matrix{name: w.data.Name(), out: w.out, in: w.in, read: w.part}
	if w.bits == 0 {
		m.tensor = &w.data
	} else {
		m.packed = w
	}
	return m
}

// blame returns the fault of a scale or a shift among those of n elements from the one at index first on, or err if all
// are finite.
func (w *weight) blame(first, n int, err error) error {
	some := make([]float32, (first%w.group+n+w.group-1)/w.group)
	for _, t := range []safetensors.Tensor{w.scales, w.shifts} {
		numbers(some, t, first/w.group)
		if own := finite(t.Name(), first/w.group, some); own != nil {
			return own
		}
	}
	return err
}

// dense returns the numbers of a dense tensor.
func dense(t safetensors.Tensor, out, in int) matrix {
	return matrix{name: t.Name(), out: out, in: in, tensor: &t,
		read: func(dst []float32, row, from int) { numbers(dst, t, row*in+from) }}
}

// flat returns the same numbers in fewer rows: short ones cost more for each number.
func flat(t safetensors.Tensor, out, in int) matrix {
	for out%2 == 0 && in < 1<<11 {
		out, in = out/2, 2*in
	}
	return dense(t, out, in)
}

// numbers stores numbers of a dense tensor from index first on.
func numbers(dst []float32, t safetensors.Tensor, first int) {
	data := t.Bytes()[first*t.DType().Size():]
	switch t.DType() {
	case safetensors.F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case safetensors.BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16)
		}
	default:
		if view, err := safetensors.View[fp16.Bits](t); err == nil {
			fp16.Decode(dst, view[first:first+len(dst)])
			return
		}
		for i := range dst { // its offset is odd
			dst[i] = fp16.Bits(binary.LittleEndian.Uint16(data[2*i:])).Float32()
		}
	}
}

// part stores elements of a row from the one at index from on.
func (w *weight) part(dst []float32, row, from int) {
	if w.bits == 0 {
		numbers(dst, w.data, row*w.in+from)
		return
	}
	var pair [2]float32
	var values [16]float32 // of the integers of a group, for up to 4 bits
	data := w.data.Bytes()[row*w.in*w.bits/8:]
	for len(dst) > 0 {
		group := dst[:min(len(dst), w.group-from%w.group)]
		numbers(pair[:1], w.scales, row*w.in/w.group+from/w.group)
		numbers(pair[1:], w.shifts, row*w.in/w.group+from/w.group)
		if w.bits > 4 {
			for j := range group {
				group[j] = pair[0]*float32(packed(data, from+j, w.bits)) + pair[1]
			}
		} else {
			for v := range values[:1<<w.bits] {
				values[v] = pair[0]*float32(v) + pair[1]
			}
			look(group, &values, data, from, w.bits)
		}
		dst, from = dst[len(group):], from+len(group)
	}
}

// look stores the values of integers of up to 4 bits, from the one at index from on.
func look(dst []float32, values *[16]float32, data []byte, from, bits int) {
	if bits == 4 && from%2 == 0 && len(dst)%2 == 0 {
		for i, b := range data[from/2:][:len(dst)/2] {
			dst[2*i], dst[2*i+1] = values[b&15], values[b>>4]
		}
		return
	}
	for j := range dst {
		dst[j] = values[packed(data, from+j, bits)]
	}
}

// packed returns integer i of a stream of integers of a number of bits, low bits first.
func packed(data []byte, i, bits int) uint32 {
	at := i * bits
	v := uint32(data[at/8]) >> (at % 8)
	if at%8+bits > 8 {
		v |= uint32(data[at/8+1]) << (8 - at%8)
	}
	return v & (1<<bits - 1)
}
