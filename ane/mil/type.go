package mil

import (
	"math"
	"slices"
	"strconv"
)

// DType is the scalar type of a value: what one element is.
type DType uint8

// The scalar types of MIL text. String is a type of attributes; engines do not compute tensors of strings.
const (
	NoType DType = iota
	FP16
	FP32
	FP64
	BF16
	Bool
	String
	Int1
	Int2
	Int3
	Int4
	Int6
	Int8
	Int16
	Int32
	Int64
	UInt1
	UInt2
	UInt3
	UInt4
	UInt6
	UInt8
	UInt16
	UInt32
	UInt64
)

// dtypes has the spelling and the width in bits of each DType. String has no width.
var dtypes = [...]struct {
	name string
	bits int
}{
	NoType: {"invalid", 0},
	FP16:   {"fp16", 16}, FP32: {"fp32", 32}, FP64: {"fp64", 64}, BF16: {"bf16", 16},
	Bool: {"bool", 8}, String: {"string", 0},
	Int1: {"int1", 1}, Int2: {"int2", 2}, Int3: {"int3", 3}, Int4: {"int4", 4}, Int6: {"int6", 6},
	Int8: {"int8", 8}, Int16: {"int16", 16}, Int32: {"int32", 32}, Int64: {"int64", 64},
	UInt1: {"uint1", 1}, UInt2: {"uint2", 2}, UInt3: {"uint3", 3}, UInt4: {"uint4", 4}, UInt6: {"uint6", 6},
	UInt8: {"uint8", 8}, UInt16: {"uint16", 16}, UInt32: {"uint32", 32}, UInt64: {"uint64", 64},
}

// kinds has the word that starts each composite type.
var kinds = map[Kind]string{Tensor: "tensor", State: "state", Tuple: "tuple", Dict: "dict", List: "list",
	TensorBuffer: "tensor_buffer"}

// typeWords has the scalar type or the kind that each word means which can start a type.
var typeWords = func() map[string]Type {
	words := map[string]Type{}
	for d := FP16; int(d) < len(dtypes); d++ {
		words[dtypes[d].name] = ScalarOf(d)
	}
	for k, word := range kinds {
		words[word] = Type{Kind: k}
	}
	return words
}()

// typeWord reports whether a type can start with the word s.
func typeWord(s string) bool {
	_, known := typeWords[s]
	return known
}

// ParseDType returns the scalar type that MIL text spells s, or NoType.
func ParseDType(s string) DType { return typeWords[s].DType }

// String returns the spelling in MIL text.
func (d DType) String() string {
	if int(d) >= len(dtypes) {
		d = NoType
	}
	return dtypes[d].name
}

// Bits is the width of one element in bits; 0 for String and NoType. Bool is stored as one byte.
func (d DType) Bits() int {
	if int(d) >= len(dtypes) {
		return 0
	}
	return dtypes[d].bits
}

// Size is the width of one element in whole bytes, 0 for types narrower than a byte.
func (d DType) Size() int { return d.Bits() / 8 }

// Float reports whether d is a floating-point type.
func (d DType) Float() bool { return d >= FP16 && d <= BF16 }

// Integer reports whether d is a signed or unsigned integer type.
func (d DType) Integer() bool { return d >= Int1 && int(d) < len(dtypes) }

// Unsigned reports whether d is an unsigned integer type.
func (d DType) Unsigned() bool { return d >= UInt1 && int(d) < len(dtypes) }

// Range gives the smallest and the largest value of an integer type, zeros for every other.
func (d DType) Range() (lo int64, hi uint64) {
	switch {
	case d.Unsigned():
		return 0, 1<<d.Bits() - 1
	case d.Integer():
		return -1 << (d.Bits() - 1), 1<<(d.Bits()-1) - 1
	default:
		return 0, 0
	}
}

// Kind is the kind of a Type.
type Kind uint8

// The kinds of type in MIL text.
const (
	Scalar       Kind = iota // fp16
	Tensor                   // tensor<fp16, [1, 64, 1, 32]>
	State                    // state<tensor<..>>
	Tuple                    // tuple<T, ..>
	Dict                     // dict<K, V>
	List                     // list<T, n>
	TensorBuffer             // tensor_buffer<fp16, shape=[..], strides=[..], interleave_factors=[..]>
)

// Dim is one axis length of a tensor type: a size, or a symbol for an unknown size ("?" or a name).
type Dim struct {
	Size   int    // number of elements, valid when Symbol is empty
	Symbol string // "?" or an identifier
}

// Known reports whether the axis has a fixed size.
func (d Dim) Known() bool { return d.Symbol == "" }

func (d Dim) String() string {
	if d.Known() {
		return strconv.Itoa(d.Size)
	}
	return d.Symbol
}

// Type is the type of a value. A Scalar uses DType alone, a Tensor DType and Dims, a TensorBuffer Buffer besides, a
// List Elems[0] and Dims[0], the others Elems.
type Type struct {
	Kind   Kind
	DType  DType
	Dims   []Dim
	Elems  []Type
	Buffer *Buffer
}

// Buffer says where a TensorBuffer has its elements: one number for each axis. An absent list is nil.
type Buffer struct {
	Strides    []int // elements from one index to the next
	Interleave []int // elements of the axis that lie side by side
}

// Held returns the tensor type of a TensorBuffer's elements, and any other type as it is.
func (t Type) Held() Type {
	if t.Kind != TensorBuffer {
		return t
	}
	return Type{Kind: Tensor, DType: t.DType, Dims: t.Dims}
}

// equal reports whether two buffers, or none, place elements the same.
func (b *Buffer) equal(c *Buffer) bool {
	if b == nil || c == nil {
		return b == c
	}
	return slices.Equal(b.Strides, c.Strides) && slices.Equal(b.Interleave, c.Interleave)
}

// ScalarOf returns the scalar type d.
func ScalarOf(d DType) Type { return Type{Kind: Scalar, DType: d} }

// TensorOf returns the tensor type of elements d with a fixed shape.
func TensorOf(d DType, shape ...int) Type {
	t := Type{Kind: Tensor, DType: d, Dims: make([]Dim, len(shape))}
	for i, n := range shape {
		t.Dims[i].Size = n
	}
	return t
}

// StateOf returns the type of a state that holds a t.
func StateOf(t Type) Type { return Type{Kind: State, Elems: []Type{t}} }

// Shape returns the axis lengths of a scalar (none) or of a tensor of fixed shape; ok is false for every other type.
func (t Type) Shape() (shape []int, ok bool) {
	switch t.Kind {
	case Scalar:
		return nil, true
	case Tensor:
		shape = make([]int, len(t.Dims))
		for i, d := range t.Dims {
			if !d.Known() {
				return nil, false
			}
			shape[i] = d.Size
		}
		return shape, true
	default:
		return nil, false
	}
}

// Elements is the number of elements of a scalar (1) or of a tensor of fixed shape. ok is false for every other type,
// for a negative axis, and when the number does not fit an int.
func (t Type) Elements() (n int, ok bool) {
	if t.Kind != Scalar && t.Kind != Tensor {
		return 0, false
	}
	n = 1
	empty := false
	for _, d := range t.Dims {
		switch {
		case !d.Known() || d.Size < 0:
			return 0, false
		case d.Size == 0:
			empty = true
		case n > math.MaxInt/d.Size:
			return 0, false
		default:
			n *= d.Size
		}
	}
	if empty {
		n = 0
	}
	return n, true
}

// Same reports whether two types describe the same values. A scalar and a tensor of rank 0 are the same: the two
// dialects of MIL text spell them differently.
func (t Type) Same(u Type) bool { return t.boxed().same(u.boxed(), 0) }

// boxed spells a scalar as a tensor of rank 0.
func (t Type) boxed() Type {
	if t.Kind == Scalar {
		return Type{Kind: Tensor, DType: t.DType}
	}
	return t
}

// same is Same for types that are boxed. Types nested deeper than MaxNesting are never the same.
func (t Type) same(u Type, depth int) bool {
	return depth <= MaxNesting && t.Kind == u.Kind && t.DType == u.DType && slices.Equal(t.Dims, u.Dims) &&
		t.Buffer.equal(u.Buffer) &&
		slices.EqualFunc(t.Elems, u.Elems, func(a, b Type) bool { return a.boxed().same(b.boxed(), depth+1) })
}

// String returns the type as MIL text.
func (t Type) String() string {
	var p printer
	p.typ(t)
	return p.out.String()
}
