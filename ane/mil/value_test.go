package mil

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parseValue reads text as the operand of an argument.
func parseValue(text string) (*Value, error) {
	p, err := Parse("f", []byte(body("write(a = "+text+");")))
	if err != nil {
		return nil, err
	}
	v, _ := p.Funcs[0].Body[0].Arg("a").Value.(*Value)
	return v, nil
}

func TestValues(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		text string
		want any
	}{
		{"fp16(1)", []float64{1}},
		{"fp32(-0.1)", []float64{-0.1}},
		{"fp64(0x1.4cccccccccccdp-1)", []float64{0.65}},
		{"fp16(-0x1.388p+13)", []float64{-10000}},
		{"fp16(0x.8p0)", []float64{0.5}},
		{"bf16(1e-400)", []float64{0}},
		{"tensor<fp16, [4]>([inf, -inf, 1.5e2, 7])", []float64{inf, -inf, 150, 7}},
		{"tensor<fp16, [2, 2]>([[1, 2], [3, 4]])", []float64{1, 2, 3, 4}},
		{"tensor<fp16, [2, 2]>([1, 2, 3, 4])", []float64{1, 2, 3, 4}},
		{"tensor<fp16, [1, 1, 1]>(3)", []float64{3}},
		{"tensor<fp16, []>(fp16(3))", []float64{3}},
		{"fp16(tensor<fp16, []>(3))", []float64{3}},
		{"tensor<fp16, [2]>([fp16(1), tensor<fp16, []>(2)])", []float64{1, 2}},
		{"tensor<fp16, [?]>([1, 2])", []float64{1, 2}},
		{"tensor<fp16, [?, 2]>([[1, 2]])", []float64{1, 2}},
		{"tensor<fp16, [0]>([])", []float64{}},
		{"tensor<fp16, [2, 0]>([[], []])", []float64{}},
		{"int8(-128)", []int64{-128}},
		{"uint64(9223372036854775807)", []int64{math.MaxInt64}},
		{"int64(-9223372036854775808)", []int64{math.MinInt64}},
		{"tensor<uint1, [2]>([0, 1])", []int64{0, 1}},
		{"tensor<int4, [2]>([-8, 7])", []int64{-8, 7}},
		{"tensor<int32, [1]>(-007)", []int64{-7}},
		{"bool(true)", []bool{true}},
		{"tensor<bool, [1, 2]>([[false, true]])", []bool{false, true}},
		{`string("")`, []string{""}},
		{`tensor<string, [2]>(["a\n", "\303\251\x21\u00e9\U0001F600\?\'"])`, []string{"a\n", "é!é😀?'"}},
	} {
		t.Run(c.text, func(t *testing.T) {
			v, err := parseValue(c.text)
			require.NoError(t, err)
			require.NoError(t, v.Check())
			floats, ferr := v.Floats()
			ints, ierr := v.Ints()
			bools, berr := v.Bools()
			texts, serr := v.Strings()
			failed := 0
			for _, err := range []error{ferr, ierr, berr, serr} {
				if err != nil {
					failed++
					var e *Error
					require.ErrorAs(t, err, &e)
					require.Equal(t, v.Pos, e.Pos)
				}
			}
			require.Equal(t, 3, failed, "one method fits each type")
			switch want := c.want.(type) {
			case []float64:
				require.Equal(t, want, floats)
			case []int64:
				require.Equal(t, want, ints)
			case []bool:
				require.Equal(t, want, bools)
			case []string:
				require.Equal(t, want, texts)
			}
		})
	}
	v, err := parseValue("fp16(-nan)")
	require.NoError(t, err)
	f, err := v.Floats()
	require.NoError(t, err)
	require.True(t, math.IsNaN(f[0]))
}

func TestValueFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		col  int // of the fault within text, from 1
		want string
	}{
		{"int8(-129)", 6, "int8 holds -128 to 127"},
		{"uint64(18446744073709551615)", 8, "is above 9223372036854775807, the largest uint64 that is supported"},
		{"uint64(18446744073709551616)", 8, "out of range"},
		{"int32(1.0)", 7, "not a whole number"},
		{"int32(1e3)", 7, "not a whole number"},
		{"int32(inf)", 7, "not a whole number"},
		{"int32(true)", 7, "expected a whole number, found true"},
		{`fp16("1")`, 6, `expected a number, found string "1"`},
		{"bool(0)", 6, "expected true or false, found number 0"},
		{"string(1)", 8, "expected a string, found number 1"},
		{"fp16({})", 6, "found a dict"},
		{"fp16((1))", 6, "found a tuple"},
		{"fp16(fp32(1))", 6, "fp32 inside fp16"},
		{"tensor<fp16, [2]>([[1, 2]])", 19, "list of 1 where tensor<fp16, [2]> needs 2"},
		{"tensor<fp16, [1]>([[1]])", 20, "deeper than the 1 dimensions"},
		{"tensor<fp16, [2, 2]>([[1, 2], 3])", 31, "expected a list"},
		{"tensor<fp16, [2, 2]>([1, [2, 3]])", 23, "expected a list"},
		{"tensor<fp16, [2, 2]>([1, 2, 3])", 22, "list of 3"},
		{"tensor<fp16, [2, 1, 1]>([[1], [2]])", 27, "expected a list"},
		{"tensor<fp16, [0]>(1)", 19, "one element where tensor<fp16, [0]> needs 0"},
		{"tensor<fp16, [2]>([tensor<fp16, [2]>([1, 2]), 3])", 20, "tensor<fp16, [2]> inside"},
		{"tensor<fp16, [1099511627776, 1099511627776]>([1])", 1, "the number of elements is unknown or too large"},
	} {
		t.Run(c.text, func(t *testing.T) {
			_, err := parseValue(c.text)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, Pos{2, len("write(a = ") + c.col}, e.Pos)
			require.ErrorContains(t, err, c.want)
		})
	}
	var none *Value
	_, err := none.Ints()
	require.Error(t, err)
	require.NoError(t, none.Check())
}

func TestBlobLiteral(t *testing.T) {
	v, err := parseValue(`tensor<fp16, [2]>(BLOBFILE(offset = uint64(64), path = string("w")))`)
	require.NoError(t, err)
	path, offset, err := v.Blob().Entry()
	require.NoError(t, err)
	require.Equal(t, "w", path)
	require.EqualValues(t, 64, offset)
	_, err = v.Floats()
	require.ErrorContains(t, err, "are needed in the text")
	plain, err := parseValue("fp16(1)")
	require.NoError(t, err)
	require.Nil(t, plain.Blob())
	for _, entry := range []string{
		`path = string("w"), offset = int64(-1)`,
		`path = string("w"), offset = fp16(1)`,
		`path = tensor<string, [2]>(["a", "b"]), offset = uint64(64)`,
	} {
		_, err = parseValue(`tensor<fp16, [2]>(BLOBFILE(` + entry + `))`)
		require.Error(t, err, entry)
	}
}

// TestMillion evaluates a list of a million numbers.
func TestMillion(t *testing.T) {
	const n = 1_000_000
	v, err := parseValue("tensor<int32, [1000, 1000]>([" + strings.Repeat("7, ", n-1) + "8])")
	require.NoError(t, err)
	ints, err := v.Ints()
	require.NoError(t, err)
	require.Len(t, ints, n)
	require.EqualValues(t, 8, ints[n-1])
}

func TestErrorText(t *testing.T) {
	cause := errors.New("cause")
	e := &Error{File: "a.mil", Pos: Pos{3, 4}, Msg: "wrong", Hint: "fix", Err: cause}
	require.EqualError(t, e, "a.mil:3:4: wrong; fix")
	require.ErrorIs(t, ErrorList{e}, cause)
}
