package coreml_test

import (
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The functions below write protobuf for tests. Their numbers are those of Core ML's format, apart from the table of
// the package.

type proto = []byte

func msg(n protowire.Number, parts ...proto) proto {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), slices.Concat(parts...))
}

func str(n protowire.Number, s string) proto { return msg(n, []byte(s)) }

func num(n protowire.Number, x int) proto {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), uint64(x))
}

func real64(n protowire.Number, x float64) proto {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), math.Float64bits(x))
}

func packed(list ...int) (b proto) {
	for _, x := range list {
		b = protowire.AppendVarint(b, uint64(x))
	}
	return b
}

// entry is an entry of a map whose values are messages.
func entry(n protowire.Number, key string, content ...proto) proto {
	return msg(n, str(1, key), msg(2, content...))
}

// Scalar types of MIL.proto.
const (
	pBool, pString               = 1, 2
	pFP16, pFP32                 = 10, 11
	pInt8, pInt32, pInt64, pInt4 = 21, 23, 24, 25
	pUint8, pUint16, pUint64     = 31, 32, 34
)

// open is an axis of unknown length.
const open = -1

// tensor is a ValueType.
func tensor(scalar int, dims ...int) proto {
	parts := []proto{num(1, scalar), num(2, len(dims))}
	for _, d := range dims {
		if d == open {
			parts = append(parts, msg(3, msg(2)))
		} else {
			parts = append(parts, msg(3, msg(1, num(1, d))))
		}
	}
	return msg(1, parts...)
}

func dictType(key, content proto) proto { return msg(4, msg(1, key), msg(2, content)) }

func stateType(t proto) proto { return msg(5, msg(1, t)) }

func listType(t proto) proto { return msg(2, msg(1, t), msg(2, msg(2))) }

// named is a NamedValueType.
func named(n protowire.Number, name string, t proto) proto { return msg(n, str(1, name), msg(2, t)) }

// value is a Value: the fields of a TensorValue of a type.
func value(t proto, content ...proto) proto {
	return slices.Concat(msg(2, t), msg(3, msg(1, content...)))
}

func words(t proto, list ...string) proto {
	var all []proto
	for _, s := range list {
		all = append(all, str(1, s))
	}
	return value(t, msg(4, all...))
}

func word(s string) proto { return words(tensor(pString), s) }

func ints(list ...int) proto {
	return value(tensor(pInt32, len(list)), msg(2, msg(1, packed(list...))))
}

func scalar(n int) proto { return value(tensor(pInt32), msg(2, msg(1, packed(n)))) }

func truth(b int) proto { return value(tensor(pBool), msg(3, msg(1, packed(b)))) }

func fp32s(t proto, list ...float32) proto {
	var b []byte
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return value(t, msg(1, msg(1, b)))
}

func raw(t proto, b ...byte) proto { return value(t, msg(7, msg(1, b))) }

func blobValue(t proto, path string, offset int) proto {
	return slices.Concat(msg(2, t), msg(5, str(1, path), num(2, offset)))
}

// constant is the operation const with a label.
func constant(name string, t, v proto) proto {
	return msg(3, str(1, "const"), named(3, name, t), entry(5, "name", word("label_"+name)), entry(5, "val", v))
}

// arg is an argument that names values.
func arg(name string, values ...string) proto {
	var all []proto
	for _, v := range values {
		all = append(all, msg(1, str(1, v)))
	}
	return entry(2, name, all...)
}

// inline is an argument that is a value.
func inline(name string, v proto) proto { return entry(2, name, msg(1, msg(2, v))) }

// op is an operation with one result.
func op(kind, result string, t proto, rest ...proto) proto {
	start := slices.Concat(str(1, kind), named(3, result, t), entry(5, "name", word(result)))
	return msg(3, append([]proto{start}, rest...)...)
}

// function is an entry of a program's functions.
func function(name, opset string, inputs []proto, block ...proto) proto {
	return entry(2, name, slices.Concat(inputs...), str(2, opset), entry(3, opset, block...))
}

// program is a Model with an ML program.
func program(version int, description []proto, funcs ...proto) proto {
	info := slices.Concat(msg(2, dictType(tensor(pString), tensor(pString))), msg(3, msg(4,
		msg(1, msg(1, word("coremltools-version")), msg(2, word("9.0"))))))
	return slices.Concat(num(1, version), msg(2, description...),
		msg(502, slices.Concat(num(1, 1), slices.Concat(funcs...), entry(4, "buildInfo", info))))
}

// array is the FeatureType of an array: a default shape, and a ShapeFlexibility.
func array(shape []int, flexibility ...proto) proto {
	return msg(5, slices.Concat(msg(1, packed(shape...)), num(2, 65568), slices.Concat(flexibility...)))
}

// feature is a FeatureDescription.
func feature(n protowire.Number, name string, t proto) proto { return msg(n, str(1, name), msg(3, t)) }
