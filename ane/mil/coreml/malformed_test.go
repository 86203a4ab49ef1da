package coreml_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
)

// body is a model whose function returns y, with an input x.
func body(parts ...proto) proto {
	return program(7, nil, function("main", "CoreML6", []proto{named(1, "x", tensor(pFP16, 1))}, append(parts,
		str(2, "y"))...))
}

// with is a model with the value v as an argument.
func with(v proto) proto {
	return body(op("relu", "y", tensor(pFP16, 1), arg("x", "x"), inline("v", v)))
}

func TestMalformed(t *testing.T) {
	half := tensor(pFP16, 1)
	for want, model := range map[string]proto{
		"invalid field number":                      append(relu(7), 0),
		"Model.description has wire type 0":         append(num(1, 7), num(2, 7)...),
		"the operation has no type":                 body(msg(3, named(3, "y", half))),
		"y has no type":                             body(msg(3, str(1, "relu"), msg(3, str(1, "y")))),
		"an argument is neither a name nor a value": body(op("relu", "y", half, entry(2, "x", msg(1)))),
		"a type is incomplete":                      body(op("relu", "y", msg(4, msg(1, half)))),
		"a tensor of unknown rank":                  body(op("relu", "y", msg(1, num(1, pFP16), num(2, -1)))),
		"a tensor of rank 2 has 1 axes": body(op("relu", "y", msg(1, num(1, pFP16), num(2, 2), msg(3,
			msg(1, num(1, 1)))))),
		"a tensor has no scalar type":  body(op("relu", "y", msg(1))),
		"the scalar type 40 fp8e4m3fn": body(op("relu", "y", tensor(40, 1))),
		"an axis of 18446744073709551615 elements": body(op("relu", "y", msg(1, num(1, pFP16), num(2, 1),
			msg(3, msg(1, num(1, -1)))))),
		"a value has no type":                       with(msg(3, msg(1))),
		"a value is missing":                        with(msg(2, half)),
		"a value is empty":                          with(slices.Concat(msg(2, half), msg(3))),
		"elements where the type is list":           with(value(listType(half), msg(1))),
		"0 elements in a value":                     with(value(half, msg(1))),
		"floating-point elements in a value of int": with(fp32s(tensor(pInt32, 1), 1)),
		"integer elements in a value of fp16":       with(value(half, msg(2, msg(1, packed(1))))),
		"texts in a value of fp16":                  with(words(half, "a")),
		"bytes in a value of string":                with(raw(tensor(pString), 1)),
		"3 bytes in a value of fp16":                with(raw(half, 1, 2, 3)),
		"3 bytes are no list of floats":             with(value(tensor(pFP32, 1), msg(1, msg(1, proto{1, 2, 3})))),
		"a list of integers: ":                      with(value(tensor(pInt32, 1), msg(2, msg(1, proto{0x80})))),
		"an entry of a dictionary is incomplete": with(slices.Concat(msg(2, dictType(half, half)),
			msg(3, msg(4, msg(1, msg(1, word("a"))))))),
		"main has no body for its opset": program(7, nil, entry(2, "main", str(2, "CoreML6"), entry(3,
			"CoreML5", str(2, "y")))),
		"main has parameters of its own":           body(op("relu", "y", half, arg("x", "x")), named(1, "z", half)),
		"the program has no function":              program(7, nil),
		"a function is described without its name": relu(7, msg(20)),
		"an axis of -1 elements":                   relu(7, feature(1, "x", array([]int{-1}))),
	} {
		_, err := coreml.Read(model)
		require.ErrorIs(t, err, coreml.ErrFormat, want)
		require.ErrorContains(t, err, want)
	}
}

// What a package can hold beyond a program is named, and the program is read.
func TestRemarks(t *testing.T) {
	half := tensor(pFP16, 1)
	relu := op("relu", "y", half, arg("x", "x"))
	f := func(parts ...proto) proto {
		return function("main", "CoreML6", []proto{named(1, "x", half)}, append(parts, str(2, "y"))...)
	}
	for want, model := range map[string]proto{
		"the program has a docString": program(7, nil, f(relu), str(3, "text")),
		"a value has a docString":     with(append(raw(half, 0, 0), str(1, "text")...)),
		"function main has bodies for other opsets: CoreML5": program(7, nil, entry(2, "main", named(1, "x", half),
			str(2, "CoreML6"),
			entry(3, "CoreML5", str(2, "z")), entry(3, "CoreML6", relu, str(2, "y")))),
		"the model can be trained on a device": append(program(7, nil, f(relu)), num(10, 1)...),
		"inputs for training were not read":    program(7, []proto{msg(50)}, f(relu)),
		"x is an array of the unknown type 7":  program(7, []proto{feature(1, "x", msg(5, num(2, 7)))}, f(relu)),
		"x is a picture of the unknown colour": program(7, []proto{feature(1, "x", msg(4, num(3, 7)))}, f(relu)),
		"input x has a shape of 2 axes in the description, 1 in the program": program(7,
			[]proto{feature(1, "x", array([]int{1, 1}, msg(31, msg(1))))}, f(relu)),
		"the default function gone is none of the program; main is it": program(9,
			[]proto{msg(20, str(1, "a")), msg(20, str(1, "main")), str(21, "gone")}, f(relu)),
		"attribute k of a tensor type was not read": program(7, nil, f(op("relu", "y",
			msg(1, num(1, pFP16), num(2, 1), msg(3, msg(1, num(1, 1))), entry(4, "k", raw(half, 0, 0))), arg("x",
				"x")))),
		"blocks of y (cond) have attributes": program(7, nil, f(op("cond", "y", half,
			msg(4, str(2, "x"), entry(4, "k", raw(half, 0, 0)))))),
	} {
		m, err := coreml.Read(model)
		require.NoError(t, err, want)
		require.Len(t, m.Remarks(), 1, want)
		require.Contains(t, m.Remarks()[0], want)
	}
}

// Names that MIL text does not have are changed.
func TestNames(t *testing.T) {
	half := tensor(pFP16, 1)
	m, err := coreml.Read(program(7, nil, function("main", "CoreML6", []proto{named(1, "a@b", half)},
		op("relu", "1.x", half, arg("x", "a@b")), op("relu", "const", half, arg("x", "1.x")),
		op("relu", "state", half, arg("x", "const")), str(2, "state"))))
	require.NoError(t, err)
	var names []string
	for _, op := range m.Tree().Funcs[0].Body {
		names = append(names, op.Results[0].Name)
	}
	require.Equal(t, []string{"_1_x", "const_", "state"}, names)
	require.Equal(t, "a_b", m.Tree().Funcs[0].Params[0].Name)
	_, err = mil.Parse("", mil.Print(m.Tree()))
	require.NoError(t, err)
}
