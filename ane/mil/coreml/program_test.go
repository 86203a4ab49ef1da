package coreml_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
)

const info = `[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremlc-version", "1"}, ` +
	`{"coremltools-version", "9.0"}})]`

// pairs are programs as protobuf, and as Apple's compiler writes them.
var pairs = map[string]struct {
	model proto
	text  string
}{
	"arguments and attributes in order, two results, a weight file": {
		program(8, nil, function("main", "CoreML7", []proto{named(1, "x", tensor(pFP16, 1, 4)), named(1, "a",
			tensor(pFP32, 1))},
			constant("axis", tensor(pInt32), scalar(-1)),
			constant("w", tensor(pFP16, 1, 4), blobValue(tensor(pFP16, 1, 4), "@model_path/weights/weight.bin", 64)),
			op("mul", "m", tensor(pFP16, 1, 4), arg("y", "w"), arg("x", "x")),
			op("concat", "y", tensor(pFP16, 1, 8), arg("values", "m", "x"), arg("axis", "axis"),
				inline("interleave", truth(0))),
			str(2, "y"), str(2, "m"))),
		`program(1.0) ` + info + ` { func main<ios17>(tensor<fp32, [1]> a, tensor<fp16, [1, 4]> x) {
			tensor<fp16, [1, 4]> c = const()[val = tensor<fp16, [1, 4]>(BLOBFILE(path = tensor<string, []>(` +
			`"@model_path/weights/weight.bin"), offset = tensor<uint64, []>(64)))];
			tensor<fp16, [1, 4]> m = mul(x = x, y = c);
			tensor<int32, []> last = const()[val = tensor<int32, []>(-1)];
			tensor<fp16, [1, 8]> y = concat(axis = last, interleave = tensor<bool, []>(false), values = (m, x));
		} -> (y, m); }`,
	},
	"values of every type": {
		program(7, nil, function("main", "CoreML6", []proto{named(1, "x", tensor(pFP16, 1))},
			op("one", "y", tensor(pFP16, 1), arg("x", "x"),
				inline("a", raw(tensor(pFP16, 2), 0x00, 0x3c, 0x00, 0xfc)), inline("b", fp32s(tensor(pFP32, 2, 2),
					1, 2, 3, -0.5)),
				inline("c", raw(tensor(pInt8, 2), 0xff, 0x7f)), inline("d", raw(tensor(pUint8, 2), 0xff, 0x7f)),
				inline("e", raw(tensor(pUint16, 1), 0xff, 0xff)), inline("f", words(tensor(pString, 2), "p", "")),
				inline("g", value(tensor(pInt64), msg(5, msg(1, packed(-5))))),
				inline("h", value(tensor(pUint64), msg(5, msg(1, packed(7))))),
				inline("i", value(tensor(pBool, 2), msg(3, msg(1, packed(1, 0))))),
				inline("j", ints()), inline("k", value(tensor(pInt32, 2), msg(2, num(1, 3), num(1, 4)))),
				inline("l", fp32s(tensor(pFP32), 0x1p-149)), inline("m", raw(tensor(pInt4, 3), 0xf1, 0x07)),
				inline("n", raw(tensor(pInt4, 3), 1, 0xff, 7))),
			str(2, "y"))),
		`program(1.0) ` + info + ` { func main<ios16>(tensor<fp16, [1]> x) {
			tensor<fp16, [1]> y = one(a = tensor<fp16, [2]>([0x1p+0, -inf]), b = tensor<fp32, [2, 2]>([[1, 2], [3,
				-0x1p-1]]),
				c = tensor<int8, [2]>([-1, 127]), d = tensor<uint8, [2]>([255, 127]), e = tensor<uint16,
					[1]>([65535]),
				f = tensor<string, [2]>(["p", ""]), g = tensor<int64, []>(-5), h = tensor<uint64, []>(7),
				i = tensor<bool, [2]>([true, false]), j = tensor<int32, [0]>([]), k = tensor<int32, [2]>([3, 4]),
				l = tensor<fp32, []>(0x1p-149), m = tensor<int4, [3]>([1, -1, 7]), n = tensor<int4, [3]>([1, -1,
					7]), x = x);
		} -> (y); }`,
	},
	"ios18 has plain scalars, states and several functions": {
		program(9, []proto{str(21, "b"), msg(20, str(1, "a")), msg(20, str(1, "b"))},
			function("b", "CoreML8", []proto{named(1, "s", stateType(tensor(pFP16, 2)))},
				op("read_state", "y", tensor(pFP16, 2), arg("input", "s")), str(2, "y")),
			function("a", "CoreML8", []proto{named(1, "x", tensor(pFP16))},
				op("add", "y", tensor(pFP16), arg("x", "x"), inline("y", raw(tensor(pFP16), 0, 0x40))), str(2, "y"))),
		`program(1.3) [buildInfo = dict<string, string>({{"coremltools-version", "9.0"}})] {
			func a<ios18>(fp16 x) { fp16 y = add(x = x, y = fp16(2)); } -> (y);
			func b<ios18>(state<tensor<fp16, [2]>> s) { tensor<fp16, [2]> y = read_state(input = s); } -> (y); }`,
	},
	"blocks": {
		program(7, nil, function("main", "CoreML6", []proto{named(1, "x", tensor(pFP32, 2)), named(1, "n",
			tensor(pInt32))},
			constant("zero", tensor(pInt32), scalar(0)),
			msg(3, str(1, "while_loop"), arg("loop_vars", "zero", "x"),
				named(3, "k", tensor(pInt32)), named(3, "y", tensor(pFP32, 2)), entry(5, "name", word("loop")),
				msg(4, named(1, "i", tensor(pInt32)), named(1, "v", tensor(pFP32, 2)),
					op("less", "more", tensor(pBool), arg("x", "i"), arg("y", "n")), str(2, "more")),
				msg(4, named(1, "i2", tensor(pInt32)), named(1, "v2", tensor(pFP32, 2)),
					op("add", "next", tensor(pInt32), arg("x", "i2"), inline("y", scalar(1))),
					op("add", "sum", tensor(pFP32, 2), arg("x", "v2"), arg("y", "x")), str(2, "next"), str(2,
						"sum"))),
			str(2, "y"))),
		`program(1.0) ` + info + ` { func main<ios16>(tensor<int32, []> n, tensor<fp32, [2]> x) {
			tensor<int32, []> first = const()[val = tensor<int32, []>(0)];
			tensor<int32, []> k, tensor<fp32, [2]> y = while_loop(loop_vars = (first, x))
				block0(tensor<int32, []> p, tensor<fp32, [2]> q) {
					tensor<bool, []> m = less(x = p, y = n);
				} -> (m)
				block1(tensor<int32, []> p, tensor<fp32, [2]> q) {
					tensor<int32, []> a = add(x = p, y = tensor<int32, []>(1));
					tensor<fp32, [2]> b = add(x = q, y = x);
				} -> (a, b);
		} -> (y); }`,
	},
	"a range of lengths": {
		program(8, []proto{feature(1, "x", array([]int{1, 8}, msg(31, msg(1, num(1, 1), num(2, 1)), msg(1, num(1,
			1), num(2, 512)))))},
			function("main", "CoreML7", []proto{named(1, "x", tensor(pFP32, 1, open)), named(1, "n", tensor(pInt32,
				1))},
				op("relu", "y", tensor(pFP32, 1, open), arg("x", "x")), str(2, "y"))),
		`program(1.0) ` + info + ` { func main<ios17>(tensor<int32, [1]> n, tensor<fp32, [1,
			?]> x) [FlexibleShapeInformation =
			tuple<tuple<tensor<string, []>, dict<tensor<string, []>, tensor<int32, [?]>>>, tuple<tensor<string, []>,
			dict<tensor<string, []>, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes", {{"x", [1, 8]}}),
			("RangeDims", {{"x", [[1, 1], [1, 512]]}})))] {
			tensor<fp32, [1, ?]> y = relu(x = x); } -> (y); }`,
	},
	"a constant whose value is an argument": {
		program(7, nil, function("main", "CoreML6", []proto{named(1, "x", tensor(pFP16, 1, 4))},
			msg(3, str(1, "const"), named(3, "c", tensor(pInt8, 2, 1, 1)), inline("val", raw(tensor(pInt8, 2, 1, 1),
				1, 0xff)),
				entry(5, "name", word("c"))),
			op("add", "y", tensor(pFP16, 1, 4), arg("x", "x"), arg("y", "c")), str(2, "y"))),
		`program(1.0) ` + info + ` { func main<ios16>(tensor<fp16, [1, 4]> x) {
			tensor<int8, [2, 1, 1]> c = const()[val = tensor<int8, [2, 1, 1]>([[[1]], [[-1]]])];
			tensor<fp16, [1, 4]> y = add(x = x, y = c);
		} -> (y); }`,
	},
	"a list of one value": {
		program(7, nil, function("main", "CoreML6", []proto{named(1, "x", tensor(pFP16, 1, 4))},
			op("concat", "y", tensor(pFP16, 1, 4), arg("values", "x"), inline("axis", scalar(1)),
				inline("interleave", truth(0))), str(2, "y"))),
		`program(1.0) ` + info + ` { func main<ios16>(tensor<fp16, [1, 4]> x) {
			tensor<fp16, [1, 4]> y = concat(axis = tensor<int32, []>(1), interleave = tensor<bool, []>(false),
				values = (x));
		} -> (y); }`,
	},
	"a range of one length": {
		program(7, []proto{feature(1, "x", array([]int{1, 8}, msg(31, msg(1, num(1, 1), num(2, 1)), msg(1, num(1,
			8), num(2, 8)))))},
			function("main", "CoreML6", []proto{named(1, "x", tensor(pFP32, 1, 8))},
				op("relu", "y", tensor(pFP32, 1, 8), arg("x", "x")), str(2, "y"))),
		`program(1.0) ` + info + ` { func main<ios16>(tensor<fp32, [1, 8]> x) [FlexibleShapeInformation =
			tuple<tuple<tensor<string, []>, dict<tensor<string, []>, tensor<int32, [?]>>>, tuple<tensor<string, []>,
			dict<tensor<string, []>, list<tensor<int32, [2]>, ?>>>>((("DefaultShapes", {{"x", [1, 8]}}),
			("RangeDims", {{"x", [[1, 1], [8, 8]]}})))] {
			tensor<fp32, [1, 8]> y = relu(x = x); } -> (y); }`,
	},
	"shapes to choose from, of ios18": {
		program(9, []proto{
			feature(1, "x", array(nil, msg(21, msg(1, msg(1, packed(1, 8))), msg(1, msg(1, packed(1, 16)))))),
			feature(1, "z", array([]int{2}, msg(21, msg(1, msg(1, packed(2))), msg(1, msg(1, packed(4))))))},
			function("main", "CoreML8", []proto{named(1, "x", tensor(pFP16, 1, open)), named(1, "z", tensor(pFP16,
				open))},
				op("add", "y", tensor(pFP16, 1, open), arg("x", "x"), arg("y", "z")), str(2, "y"))),
		`program(1.3) [buildInfo = dict<string, string>({{"coremltools-version", "9.0"}})] {
			func main<ios18>(tensor<fp16, [1, ?]> x, tensor<fp16, [?]> z) [FlexibleShapeInformation =
			tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string,
			dict<string, dict<string, tensor<int32, [?]>>>>>((("DefaultShapes", {{"x", [1, 8]}, {"z", [2]}}),
			("EnumeratedShapes", {{"0", {{"x", [1, 8]}, {"z", [2]}}}, {"1", {{"x", [1, 16]}, {"z", [4]}}}})))] {
			tensor<fp16, [1, ?]> y = add(x = x, y = z); } -> (y); }`,
	},
}

func TestProgramIsThatOfApplesCompiler(t *testing.T) {
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			want, err := mil.Parse("want.mil", []byte(pair.text))
			require.NoError(t, err)
			m, err := coreml.Read(pair.model)
			require.NoError(t, err)
			require.NoError(t, same(m.Tree(), want), "%s", mil.Print(m.Tree()))
			require.Equal(t, want.Version, m.Tree().Version)
			require.Empty(t, m.Remarks())

			again, err := mil.Parse("again.mil", mil.Print(m.Tree()))
			require.NoError(t, err)
			require.True(t, mil.Equal(m.Tree(), again), "the text is the tree")
		})
	}
}

// A comparison that finds no difference between different programs would prove nothing.
func TestComparisonFindsDifferences(t *testing.T) {
	texts := []string{pairs["blocks"].text, pairs["a range of lengths"].text,
		pairs["arguments and attributes in order, two results, a weight file"].text}
	for _, change := range []struct {
		text     int
		from, to string
	}{
		{0, "less(x = p, y = n)", "less(x = n, y = p)"}, {0, "-> (a, b)", "-> (a, q)"}, {0, "add(x = q", "sub(x = q"},
		{0, "tensor<int32, []>(1)", "tensor<int32, []>(2)"}, {1, "512", "513"}, {2, "values = (m, x)",
			"values = (x, m)"},
		{2, "(64)", "(128)"}, {2, "-> (y, m)", "-> (y)"}, {2, "(-1)", "(1)"},
	} {
		a, err := mil.Parse("a.mil", []byte(texts[change.text]))
		require.NoError(t, err)
		changed := replaceOnce(t, texts[change.text], change.from, change.to)
		b, err := mil.ParseTree("b.mil", []byte(changed))
		require.NoError(t, err)
		require.Error(t, same(a, b), "%s for %s", change.to, change.from)
		require.NoError(t, same(b, b))
	}
}
