package lint_test

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/lint"
)

// ruleCase is a program that breaks a rule, and one that barely does not.
type ruleCase struct {
	breaks, holds string
	severity      lint.Severity // of the worst finding of the rule, the rule's own if 0
	o             lint.Options
	oHolds        *lint.Options // of holds, if others
}

const header = "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"3505.4.1\"}})]\n{\n"

// fn is a program with one function: "T x, T y", statements, "a, b".
func fn(params, body, results string) string {
	return header + "    func main<ios18>(" + params + ") {\n        " + body + "\n    } -> (" + results + ");\n}\n"
}

// t16 is the type of an fp16 tensor.
func t16(shape ...int) string {
	return "tensor<fp16, " + strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") + ">"
}

// op is one statement from x to y.
func op(in, out, call string) string {
	return fn(in+" x", out+" y = "+call+`[name = string("y")];`, "y")
}

// one is op without a change of shape.
func one(call string, shape ...int) string {
	if len(shape) == 0 {
		shape = []int{1, 64, 1, 64}
	}
	return op(t16(shape...), t16(shape...), call)
}

// weightOf is a constant from a file.
func weightOf(name string, offset int, shape ...int) string {
	return fmt.Sprintf(`%s %s = const()[name = string("%s"), val = %s(BLOBFILE(path = `+
		`string("@model_path/weights/w.bin"), `+
		`offset = uint64(%d)))];`, t16(shape...), name, name, t16(shape...), offset)
}

const convArgs = `dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), ` +
	`pad_type = string("same"), strides = tensor<int32, [2]>([1, 1])`

// conv is a convolution of ci channels with a kernel of kh by kw, on height h and width w.
func conv(ci, h, w, kh, kw int) string {
	return fn(t16(1, ci, h, w)+" x", weightOf("w", 64, 64, ci, kh, kw)+"\n        "+t16(1, 64, h,
		w)+" y = conv("+convArgs+
		`, weight = w, x = x)[name = string("y")];`, "y")
}

// dynamic is a convolution whose weight is an input.
func dynamic(n int, args string) string {
	return fn(t16(64, 64, 1, 1)+" w, "+t16(n, 64, 1, 64)+" x", t16(n, 64, 1, 64)+" y = conv("+args+
		`, weight = w, x = x)[name = string("y")];`, "y")
}

// vec is a vector of whole numbers.
func vec(list ...int) string {
	return fmt.Sprintf("tensor<int32, [%d]>(%s)", len(list), strings.ReplaceAll(fmt.Sprint(list), " ", ", "))
}

func on(chips ...chip.Chip) lint.Options { return lint.Options{Chips: chips} }

func by(compiler chip.Compiler, chips ...chip.Chip) lint.Options {
	return lint.Options{Compilers: []chip.Compiler{compiler}, Chips: chips}
}

func ranged(low, high float64, chips ...chip.Chip) lint.Options {
	return lint.Options{Ranges: map[string]lint.Range{"x": {low, high}}, Chips: chips}
}

func withOptions(o lint.Options) *lint.Options { return &o }

// blockwise is a convolution whose weight has a scale of the given shape.
func blockwise(d string, scale ...int) string {
	return fn(t16(1, 64, 1, 64)+" x", fmt.Sprintf("%s w = constexpr_blockwise_shift_scale(data = tensor<%s, [64, 64, "+
		"1, 1]>("+
		`BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64))), scale = %s(BLOBFILE(path = `+
		`string("@model_path/s.bin"), offset = uint64(64))))[name = string("w")];`+"\n", t16(64, 64, 1, 1), d,
		t16(scale...))+
		t16(1, 64, 1, 64)+" y = conv("+convArgs+`, weight = w, x = x)[name = string("y")];`, "y")
}

// palette is a convolution whose weight is a palette with indices of type d.
func palette(d string, lut ...int) string {
	return fn(t16(1, 64, 1, 64)+" x", fmt.Sprintf("%s w = constexpr_lut_to_dense(indices = tensor<%s, [64, 64, 1, 1]>("+
		`BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64))), lut = %s(BLOBFILE(path = `+
		`string("@model_path/s.bin"), offset = uint64(64))))[name = string("w")];`+"\n", t16(64, 64, 1, 1), d,
		t16(lut...))+
		t16(1, 64, 1, 64)+" y = conv("+convArgs+`, weight = w, x = x)[name = string("y")];`, "y")
}

// w8a8 is a convolution with a kernel of k by k of 8-bit activations and weights.
func w8a8(ci, k int) string {
	return fn(t16(1, ci, 8, 64)+" x", fmt.Sprintf("%s w = constexpr_affine_dequantize()[axis = int32(0), name = "+
		"string(\"w\"), "+
		`quantized_data = tensor<int8, [64, %d, %d, %d]>(BLOBFILE(path = string("@model_path/w.bin"), offset = `+
		`uint64(64))), `+
		"scale = fp16(0.5), zero_point = int8(0)];\n", t16(64, ci, k, k), ci, k, k)+
		fmt.Sprintf("tensor<int8, [1, %d, 8, 64]> q = quantize(input = x, output_dtype = string(\"int8\"), scale = "+
			"fp16(0.5))"+
			"[name = string(\"q\")];\n%s d = dequantize(input = q, scale = fp16(0.5))[name = string(\"d\")];\n", ci,
			t16(1, ci,
				8, 64))+
		t16(1, 64, 8, 64)+" y = conv("+convArgs+`, weight = w, x = d)[name = string("y")];`, "y")
}

// stateful adds an input to a state of a width. begin is where it updates the state, if not empty; at is an input.
func stateful(width int, begin string) string {
	s, params := t16(1, 2, 8, width), t16(1, 2, 1, width)+" x, state<"+t16(1, 2, 8, width)+"> s"
	body := s + " before = read_state(input = s);\n" + s + " y = add(x = before, y = x);"
	if begin != "" {
		body += "\n" + s + " after = slice_update(begin = " + begin + ", end = " + strings.Replace(begin, " 3,", " 4,", 1) + ", end_mask = " +
			"tensor<bool, [4]>([true, true, false, true]), update = x, x = y);\nwrite_state(data = after, input = s);"
	}
	if begin == "at" {
		params += ", tensor<int32, [4]> at"
	}
	return fn(params, body, "y")
}

// attention has q queries, k keys and a mask of the given shape, or none.
func attention(q, k int, mask ...int) string {
	params := fmt.Sprintf("%s a, %s b, %s c", t16(1, 8, q, 64), t16(1, 8, k, 64), t16(1, 8, k, 64))
	arg := ""
	if mask != nil {
		params, arg = params+", "+t16(mask...)+" m", "attn_mask = m, "
	}
	return fn(params, t16(1, 8, q, 64)+" y = scaled_dot_product_attention("+arg+
		`key = b, query = a, value = c)[name = string("y")];`, "y")
}

// matmul multiplies m by k and k by n.
func matmul(k int, extra ...int) string {
	a, b := append(append([]int{}, extra...), 1, 1, 64, k), append(append([]int{}, extra...), 1, 1, k, 64)
	c := append(append([]int{}, extra...), 1, 1, 64, 64)
	return fn(t16(a...)+" a, "+t16(b...)+" b", t16(c...)+` y = matmul(transpose_x = bool(false), transpose_y = `+
		`bool(false), `+
		`x = a, y = b)[name = string("y")];`, "y")
}

// scaled multiplies inputs by a constant weight of a 1x1 convolution with two channels.
func scaled(weight string) string {
	return fn(t16(1, 2, 1, 64)+" x", fmt.Sprintf("%s w = const()[name = string(\"w\"), val = %s([%s, %s])];\n", t16(1,
		2,
		1, 1),
		t16(1, 2, 1, 1), weight, weight)+t16(1, 1, 1, 64)+" y = conv("+convArgs+`, weight = w, x = x)[name = `+
		`string("y")];`,
		"y")
}

// slices starts a slice of an axis of [1, 64, 64, 64] at 1 and takes 32.
func slices1(axis int) string {
	begin, size, out := []int{0, 0, 0, 0}, []int{1, 64, 64, 64}, []int{1, 64, 64, 64}
	begin[axis], size[axis], out[axis] = 1, 32, 32
	return op(t16(1, 64, 64, 64), t16(out...), fmt.Sprintf("slice_by_size(begin = %s, size = %s, x = x)", vec(begin...),
		vec(size...)))
}

// joinedSlices joins two slices of an axis.
func joinedSlices(axis int) string {
	begin, size, out := []int{0, 0, 0, 0}, []int{1, 64, 64, 64}, []int{1, 64, 64, 64}
	begin[axis], size[axis], out[axis] = 1, 32, 32
	slice := fmt.Sprintf("slice_by_size(begin = %s, size = %s, x = x)", vec(begin...), vec(size...))
	return fn(t16(1, 64, 64, 64)+" x", fmt.Sprintf("%s a = %s[name = string(\"a\")];\n%s b = %s[name = "+
		"string(\"b\")];\n"+
		"%s y = concat(axis = int32(%d), interleave = bool(false), values = (a, b))[name = string(\"y\")];",
		t16(out...),
		slice,
		t16(out...), slice, t16(1, 64, 64, 64), axis), "y")
}

// branches joins n branches.
func branches(n int) string {
	var b, names strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s b%d = relu(x = x)[name = string(\"b%d\")];\n", t16(1, 1, 1, 64), i, i)
		fmt.Fprintf(&names, "b%d, ", i)
	}
	return fn(t16(1, 1, 1, 64)+" x", b.String()+fmt.Sprintf("%s y = concat(axis = int32(1), interleave = "+
		"bool(false), values = (%s))"+
		"[name = string(\"y\")];", t16(1, n, 1, 64), strings.TrimSuffix(names.String(), ", ")), "y")
}

// sliced has n products of slices.
func sliced(n int) string {
	var b strings.Builder
	b.WriteString(weightOf("w", 64, 64, 32, 1, 1) + "\n")
	fmt.Fprintf(&b, "%s s = slice_by_size(begin = %s, size = %s, x = x)[name = string(\"s\")];\n", t16(1, 32, 1, 64),
		vec(0, 0, 0, 0),
		vec(1, 32, 1, 64))
	for i := range n {
		fmt.Fprintf(&b, "%s c%d = conv(%s, weight = w, x = s)[name = string(\"c%d\")];\n", t16(1, 64, 1, 64), i,
			convArgs, i)
	}
	return fn(t16(1, 64, 1, 64)+" x", b.String(), fmt.Sprintf("c%d", n-1))
}

// summed sums squares over a width.
func summed(w int) string {
	return fn(t16(1, 64, 1, w)+" x", t16(1, 64, 1, w)+" s = square(x = x)[name = string(\"s\")];\n"+t16(1, 64, 1, 1)+
		` y = reduce_sum(axes = `+vec(3)+`, keep_dims = bool(true), x = s)[name = string("y")];`, "y")
}

// after is a product of the result of an operation with a factor.
func after(call, out, factor string) string {
	return fn(t16(1, 64, 1, 64)+" x", out+" r = "+call+"[name = string(\"r\")];\n"+out+" y = mul(x = r, y = "+factor+
		`)[name = string("y")];`, "y")
}

// two has two inputs and outputs of the given names.
func two(a, b, c, d string, wa, wb int) string {
	return fn(t16(1, 64, 1, wa)+" "+a+", "+t16(1, 64, 1, wb)+" "+b,
		fmt.Sprintf("%s %s = relu(x = %s)[name = string(\"%s\")];\n"+
			"%s %s = relu(x = %s)[name = string(\"%s\")];", t16(1, 64, 1, wa), c, a, c, t16(1, 64, 1, wb), d, b, d),
		c+", "+d)
}

// twoFunctions has two functions with these inputs.
func twoFunctions(a, b string) string {
	body := func(name, in, out string) string {
		return "    func " + name + "<ios18>(" + t16(1, 64, 1, 64) + " " + in + ") {\n        " + t16(1, 64, 1, 64) +
			" " +
			out +
			" = relu(x = " + in + ")[name = string(\"y\")];\n    } -> (" + out + ");\n"
	}
	return header + body("main", a, "y") + body("second", b, "z") + "}\n"
}

const old = "program(1.0)\n[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{\"coremlc-version\", " +
	"\"3505.4.1\"}})]\n{\n" +
	"    func main<ios16>(tensor<fp16, [1, 64, 1, 64]> x) {\n        tensor<fp16, [1, 64, 1, 64]> y = relu(x = x)" +
	"[name = tensor<string, []>(\"y\")];\n    } -> (y);\n}\n"

var plain = one("relu(x = x)")

// unknownOptions have the OS set.
func system(os chip.OS) lint.Options { return lint.Options{OS: os} }

// own is for a caller that makes the surfaces itself.
var own = lint.Options{OwnSurfaces: true}

func programs(n int) lint.Options { return lint.Options{Programs: n} }

const gamma = `tensor<fp16, [64]>(BLOBFILE(path = string("@model_path/g.bin"), offset = uint64(64)))`

// cases has the programs of each rule.
func cases() map[string]ruleCase {
	x64 := t16(1, 64, 1, 64)
	blobAt := func(offset int) string {
		return fn(x64+" x", weightOf("w", offset, 1, 64, 1, 64)+"\n"+x64+` y = mul(x = x, y = w)[name = `+
			`string("y")];`, "y")
	}
	blobs := func(second int) string {
		return fn(x64+" x", weightOf("v", 64, 1, 64, 1, 64)+"\n"+weightOf("w", second, 1, 64, 1, 64)+"\n"+x64+
			` s = mul(x = x, y = v)[name = string("s")];`+x64+` y = mul(x = s, y = w)[name = string("y")];`, "y")
	}
	blobPath := func(path string) string {
		return strings.Replace(blobAt(64), "@model_path/weights/w.bin", path, 1)
	}
	reshapeTo := func(shape string) string {
		return fn(x64+" x", x64+" r = relu(x = x)[name = string(\"r\")];\n"+t16(1, 1, 64, 64)+" y = reshape(shape = "+
			shape+`, x = r)[name = string("y")];`, "y")
	}
	tile := func(reps string, out ...int) string {
		return fn(t16(1, 2, 1, 64)+" x", t16(1, 2, 1, 64)+" r = relu(x = x)[name = string(\"r\")];\n"+t16(out...)+
			" y = tile(reps = "+reps+`, x = r)[name = string("y")];`, "y")
	}
	soft := func(c int) string { return one("softmax(axis = int32(1), x = x)", 1, c, 1, 64) }
	pool := func(kind string, h, w int) string {
		extra := ""
		if kind == "avg_pool" {
			extra = "exclude_padding_from_average = bool(false), "
		}
		return one(fmt.Sprintf(`%s(ceil_mode = bool(false), %skernel_sizes = %s, pad = %s, pad_type = string("same"), `+
			`strides = %s, x = x)`,
			kind, extra, vec(h, w), vec(0, 0, 0, 0), vec(1, 1)), 1, 64, 32, 64)
	}
	padBy := func(p string, out ...int) string {
		return op(t16(1, 64, 8, 64), t16(out...), `pad(constant_val = fp16(0), mode = string("constant"), pad = `+
			``+p+`, `+
			`x = x)`)
	}
	castTo := func(d string) string {
		return op(x64, "tensor<"+d+", [1, 64, 1, 64]>", `cast(dtype = string("`+d+`"), x = x)`)
	}
	in := func(d string) string {
		return fn("tensor<"+d+", [1, 64, 1, 64]> x", x64+` y = cast(dtype = string("fp16"), x = x)[name = `+
			`string("y")];`, "y")
	}
	add := func(d string) string {
		return fn("tensor<"+d+", [1, 64, 1, 64]> x", "tensor<"+d+`, [1, 64, 1, 64]> y = add(x = x, y = x)[name = `+
			`string("y")];`, "y")
	}
	constant := func(val string) string { return one("mul(x = x, y = fp16(" + val + "))") }
	rsqrt := func(e string) string { return one("rsqrt(epsilon = fp16(" + e + "), x = x)") }
	einsum := func(e string) string {
		return fn(t16(1, 64, 8, 32)+" a, "+t16(1, 32, 8, 64)+" b", t16(1, 64, 8,
			64)+` y = einsum(equation = string("`+e+
			`"), values = (a, b))[name = string("y")];`, "y")
	}
	named := func(label string) string {
		return fn(x64+" x", "fp16 k = const()["+label+"val = fp16(2)];\n"+x64+` y = mul(x = x, y = k)[name = `+
			`string("y")];`,
			"y")
	}
	lrn := func(c int) string {
		return one("local_response_norm(alpha = fp16(1), beta = fp16(1), k = fp16(1), size = int32(3), x = x)", 1, c,
			1, 64)
	}
	c := map[string]ruleCase{
		"syntax":           {breaks: strings.Replace(plain, ";", "", 1), holds: plain},
		"types":            {breaks: op(x64, t16(1, 64, 1, 63), "relu(x = x)"), holds: plain},
		"unknown-operator": {breaks: one("rellu(x = x)"), holds: plain},
		"bare-literal":     {breaks: one("softmax(axis = -1, x = x)"), holds: one("softmax(axis = int32(-1), x = x)")},
		"nested-const": {breaks: one("mul(x = x, y = const()[val = fp16(2)])"),
			holds: one("mul(x = x, y = fp16(2))")},
		"const-name":       {breaks: named(""), holds: named(`name = string("k"), `)},
		"build-info":       {breaks: "program(1.3)\n{\n" + strings.TrimPrefix(plain, header), holds: plain},
		"opset-unknown":    {breaks: strings.Replace(plain, "ios18", "ios19", 1), holds: plain},
		"opset-os":         {breaks: plain, holds: plain, o: system(14), oHolds: withOptions(system(15))},
		"old-dialect":      {breaks: plain, holds: old, o: on(chip.M1)},
		"dynamic-shape":    {breaks: strings.ReplaceAll(plain, "[1, 64, 1, 64]", "[?, 64, 1, 64]"), holds: plain},
		"missing-argument": {breaks: one("softmax(x = x)"), holds: one("softmax(axis = int32(-1), x = x)")},
		"gelu-mode":        {breaks: one("gelu(x = x)"), holds: one(`gelu(mode = string("EXACT"), x = x)`)},
		"concat-interleave": {breaks: op(x64, t16(1, 128, 1, 64), "concat(axis = int32(1), values = (x, x))"),
			holds: op(x64, t16(1, 128, 1, 64), "concat(axis = int32(1), interleave = bool(false), values = (x, x))")},
		"epsilon-missing": {breaks: one("rsqrt(x = x)"), holds: rsqrt("0.001")},
		"reshape-open":    {breaks: reshapeTo(vec(1, 1, 64, -1)), holds: reshapeTo(vec(1, 1, 64, 64))},
		"conv-bias": {breaks: strings.Replace(conv(64, 1, 64, 1, 1), "conv(", "conv(bias = "+gamma+", ", 1),
			holds: conv(64, 1, 64, 1, 1)},
		"dead-output": {breaks: fn(x64+" x", x64+` y = relu(x = x)[name = string("y")];`, "x"), holds: plain},
		"unused-input": {breaks: fn(x64+" x, "+x64+" z", x64+` y = relu(x = x)[name = string("y")];`, "y"),
			holds: fn(x64+" x, "+x64+" z", x64+` y = add(x = x, y = z)[name = string("y")];`, "y"), o: on(chip.M6)},
		"unused-value": {breaks: fn(x64+" x", x64+` z = relu(x = x)[name = string("z")];`+x64+` y = relu(x = `+
			`x)[name = `+
			`string("y")];`, "y"),
			holds: fn(x64+" x", x64+` z = relu(x = x)[name = string("z")];`+x64+` y = relu(x = z)[name = `+
				`string("y")];`, "y")},
		"unused-const": {breaks: fn(x64+" x", `fp16 k = const()[name = string("k"), val = fp16(2)];`+x64+` y = `+
			`relu(x = `+
			`x)[name = string("y")];`, "y"),
			holds: named(`name = string("k"), `)},
		"shared-names": {breaks: twoFunctions("x", "x"), holds: twoFunctions("x", "w")},
		"state": {breaks: fn("state<"+x64+"> s", x64+` r = read_state(input = s)[name = string("r")];`+x64+
			` y = relu(x = r)[name = string("y")];`, "y"), holds: plain, o: by(chip.E5)},
		"unsorted-inputs":  {breaks: two("b", "a", "c", "d", 64, 64), holds: two("a", "b", "c", "d", 64, 64)},
		"unsorted-outputs": {breaks: two("a", "b", "d", "c", 64, 64), holds: two("a", "b", "c", "d", 64, 64)},
		"equal-sizes":      {breaks: two("a", "b", "c", "d", 64, 32), holds: two("a", "b", "c", "d", 64, 33), o: own},
		"padded-width":     {breaks: one("relu(x = x)", 1, 64, 1, 63), holds: plain},
		"small-surface":    {breaks: one("relu(x = x)", 1, 767, 1, 32), holds: one("relu(x = x)", 1, 768, 1, 32), o: own},
		"large-surface": {breaks: one("relu(x = x)", 1, 2048, 1025, 64), holds: one("relu(x = x)", 1, 2048, 1024,
			64)},
		"io-type":         {breaks: in("int8"), holds: in("bool")},
		"fp32-io":         {breaks: in("fp32"), holds: plain, o: on(chip.M2)},
		"fp32-arithmetic": {breaks: add("fp32"), holds: add("fp16")},
		"blob-offset":     {breaks: blobAt(128), holds: blobAt(64)},
		"blob-overlap":    {breaks: blobs(64 + 64 + 64*64*2 - 64), holds: blobs(64 + 64 + 64*64*2)},
		"blob-path":       {breaks: blobPath("@model_path/../w.bin"), holds: blobPath("@model_path/w..bin")},
		"weight-file": {breaks: blobAt(64), holds: blobAt(64), o: lint.Options{Weights: blob.Files{
			"@model_path/weights/w.bin": []byte("version https://git-lfs.github.com/spec/v1\nsize 9\n")}}, oHolds: &lint.Options{}},
		"weight-files": {breaks: strings.Replace(blobs(64+64+64*64*2), "/w.bin", "/v.bin", 1),
			holds: blobs(64 + 64 + 64*64*2)},
		"weight-budget": {breaks: one("mul(x = x, y = "+strings.Replace(gamma, "[64]", "[1, 1, 65537, 64]", 1)+")", 1,
			1,
			65537, 64),
			holds: one("mul(x = x, y = "+strings.Replace(gamma, "[64]", "[1, 1, 65535, 64]", 1)+")", 1, 1, 65535, 64),
			o:     on(chip.M4)},
		"load-budget": {breaks: plain, holds: plain, o: programs(56), oHolds: withOptions(programs(55))},

		"kernel-width":     {breaks: conv(64, 8, 64, 1, 16), holds: conv(64, 8, 64, 1, 15), o: on(chip.M4)},
		"kernel-height":    {breaks: conv(64, 64, 64, 32, 1), holds: conv(64, 64, 64, 31, 1), o: on(chip.M4)},
		"kernel-square":    {breaks: conv(64, 64, 64, 16, 16), holds: conv(64, 64, 64, 15, 15), o: on(chip.M6)},
		"kernel-rewritten": {breaks: conv(64, 8, 64, 1, 9), holds: conv(64, 8, 64, 1, 8), o: on(chip.M5)},
		"conv-channels":    {breaks: conv(32000, 1, 64, 1, 1), holds: conv(31999, 1, 64, 1, 1)},
		"conv-3d": {breaks: op(t16(1, 64, 4, 8, 64), t16(1, 64, 4, 8, 64), `avg_pool(kernel_sizes = `+vec(1, 1,
			1)+`, x = x)`),
			holds: pool("avg_pool", 1, 1)},
		"conv-groups": {breaks: strings.Replace(conv(64, 1, 64, 1, 1), "groups = int32(1)", "groups = int32(3)", 1),
			holds: strings.NewReplacer("groups = int32(1)", "groups = int32(2)", "[64, 64, 1, 1]",
				"[64, 32, 1, 1]").Replace(conv(64, 1, 64, 1, 1))},
		"dynamic-conv-batch": {breaks: dynamic(2, convArgs), holds: dynamic(1, convArgs)},
		"dynamic-conv-dilation": {breaks: dynamic(1, strings.Replace(convArgs, "dilations = tensor<int32, [2]>([1, 1])",
			"dilations = "+vec(1, 2), 1)),
			holds: dynamic(1, convArgs)},
		"dynamic-conv-ignored": {breaks: dynamic(1, convArgs), holds: conv(64, 1, 64, 1, 1), o: on(chip.M3)},
		"pool-width":           {breaks: pool("max_pool", 1, 9), holds: pool("max_pool", 9, 8)},
		"lrn-channels":         {breaks: lrn(16), holds: lrn(15)},

		"rank":         {breaks: one("relu(x = x)", 1, 1, 1, 1, 1, 64), holds: one("relu(x = x)", 1, 1, 1, 1, 64)},
		"matmul-rank":  {breaks: matmul(64, 1), holds: matmul(64)},
		"matmul-inner": {breaks: matmul(32769), holds: matmul(32768)},
		"axis-length": {breaks: one("relu(x = x)", 1, 1, 1, 16385), holds: one("relu(x = x)", 1, 1, 1, 16384),
			o: on(chip.M1)},
		"attention-size": {breaks: attention(2049, 64), holds: attention(2048, 511)},
		"attention-mask": {breaks: attention(64, 64, 1, 8, 64, 64), holds: attention(64, 64, 1, 1, 64, 64),
			o: by(chip.E5)},
		"tile-factors": {breaks: tile(vec(1, 5, 1, 1), 1, 10, 1, 64), holds: tile(vec(1, 4, 1, 1), 1, 8, 1, 64)},
		"channel-pad": {breaks: padBy(vec(1, 0, 0, 0, 0, 0), 1, 65, 8, 64), holds: padBy(vec(0, 0, 1, 0, 0, 0), 1, 64,
			9, 64)},
		"softmax-size":    {breaks: soft(63), holds: soft(64)},
		"einsum-equation": {breaks: einsum("nchw,nwhu->nchu "), holds: einsum("nchw,nwhu->nchu")},
		"odd-tiles": {breaks: one("relu(x = x)", 1, 512, 64, 64), holds: one("relu(x = x)", 1, 256, 64, 64),
			o: on(chip.M6)},
		"many-operands": {breaks: fn(x64+" a, "+x64+" b, "+x64+" c", t16(1, 192, 1, 64)+
			` y = concat(axis = int32(1), interleave = bool(false), values = (a, b, c))[name = string("y")];`, "y"),
			holds: fn(x64+" a, "+x64+" b", t16(1, 192, 1, 64)+
				` y = concat(axis = int32(1), interleave = bool(false), values = (a, b, b))[name = string("y")];`, "y"),
			o: on(chip.M6)},

		"block-quantization": {breaks: blockwise("int8", 64, 2, 1, 1), holds: blockwise("int8", 64, 1, 1, 1)},
		"int4-operand":       {breaks: in("int4"), holds: in("fp32")},
		"int4-blocks": {breaks: blockwise("int4", 64, 2, 1, 1), holds: blockwise("int4", 64, 1, 1, 1),
			o: on(chip.M6)},
		"vector-palette": {breaks: palette("uint4", 1, 1, 1, 1, 16, 2), holds: palette("uint4", 1, 1, 1, 1, 16, 1),
			o: on(chip.M6)},
		"palette-3bit": {breaks: palette("uint3", 1, 1, 1, 1, 8, 1), holds: palette("uint4", 1, 1, 1, 1, 16, 1),
			o: on(chip.M5)},
		"w8a8-1x1":  {breaks: w8a8(64, 1), holds: w8a8(64, 3), o: on(chip.M6)},
		"int8-sum":  {breaks: w8a8(133145, 1), holds: w8a8(133144, 1)},
		"cast-type": {breaks: castTo("int32"), holds: castTo("int8")},

		"refused-operator": {breaks: one("mod(x = x, y = x)"), holds: one("floor_div(x = x, y = x)")},
		"trigonometry": {breaks: one("sin(x = x)"), holds: one("sin(x = x)"), o: on(chip.M2),
			oHolds: withOptions(on(chip.M4))},
		"topk": {breaks: one("topk(x = x, k = int32(1))"), holds: one("topk(x = x, k = int32(1))"), o: on(chip.M4),
			oHolds: withOptions(on(chip.M6))},
		"tile-poison": {breaks: tile(vec(1, 4, 1, 1), 1, 8, 1, 64), holds: op(x64, t16(1, 128, 1, 64),
			"concat(axis = int32(1), interleave = bool(false), values = (x, x))"), o: on(chip.M3)},
		"only-views": {breaks: op(x64, t16(1, 1, 64, 64), "reshape(shape = "+vec(1, 1, 64, 64)+", x = x)"),
			holds: reshapeTo(vec(1, 1, 64, 64))},
		"slow-bridge": {breaks: one("space_to_batch(x = x)"), holds: one("space_to_depth(x = x)"), o: on(chip.M5)},
		"contested-operator": {breaks: op(x64, t16(1, 64, 1, 1), "reduce_mean(axes = "+vec(3)+", keep_dims = "+
			"bool(true), x = x)"),
			holds: op(x64, t16(1, 64, 1, 1), "reduce_sum(axes = "+vec(3)+", keep_dims = bool(true), x = x)")},

		"conv-chain": {breaks: chain(387, []int{1, 64, 1, 64}, chainConv), holds: chain(386, []int{1, 64, 1, 64},
			chainConv), o: on(chip.M6)},
		"elementwise-chain": {breaks: chain(128, []int{1, 64, 1, 64}, "relu(x = %s)"), holds: chain(127, []int{1, 64, 1,
			64}, "relu(x = %s)"), o: on(chip.M6)},
		"split-convs":     {breaks: sliced(1000), holds: sliced(999), o: on(chip.M6)},
		"joined-branches": {breaks: branches(12), holds: branches(11), o: on(chip.M1)},
		"reduce-times-zero": {breaks: after("reduce_sum(axes = "+vec(3)+", keep_dims = bool(true), x = x)", t16(1, 64,
			1,
			1), "fp16(0)"),
			holds: after("reduce_sum(axes = "+vec(3)+", keep_dims = bool(true), x = x)", t16(1, 64, 1, 1), "fp16(0.5)"),
			o:     on(chip.M5)},
		"fused-square": {breaks: summed(193), holds: summed(192), o: on(chip.M5)},
		"rounded-product": {breaks: after("floor(x = x)", x64, "fp16(2)"), holds: after("relu(x = x)", x64, "fp16(2)"),
			o: on(chip.M5)},
		"last-relu": {breaks: reluChain(32), holds: reluChain(33), o: by(chip.CoreML, chip.M6)},

		"cpu-operator": {breaks: one("cumsum(x = x)"), holds: one("erf(x = x)"), o: by(chip.CoreML)},
		"cpu-int32":    {breaks: add("int32"), holds: add("fp16"), o: by(chip.CoreML)},
		"cpu-small":    {breaks: conv(64, 8, 64, 1, 1), holds: conv(64, 32, 64, 3, 3), o: by(chip.CoreML)},

		"accumulator-overflow": {breaks: scaled("1"), holds: scaled("1"), o: ranged(-16384, 16384),
			oHolds: withOptions(ranged(-16376, 16376))},
		"vanishing-products": {breaks: scaled("0x1p-9"), holds: scaled("0x1p-8"), o: ranged(-0x1p-8, 0x1p-8)},
		"fp16-overflow": {breaks: one("mul(x = x, y = fp16(2))"), holds: one("mul(x = x, y = fp16(2))"), o: ranged(0,
			32760), oHolds: withOptions(ranged(0, 32752))},
		"literal-range": {breaks: constant("65520"), holds: constant("65519")},
		"nan-number":    {breaks: constant("-inf"), holds: constant("-10000")},
		"small-epsilon": {breaks: rsqrt("0x1.08p-17"), holds: rsqrt("0x1.0cp-17")},
		"inverse-epsilon": {breaks: one("inverse(epsilon = fp16(0.0001), x = x)"),
			holds: one("inverse(epsilon = fp16(0.00005), x = x)")},
		"domain": {breaks: one("sqrt(x = x)"), holds: one("sqrt(x = x)"), o: ranged(-1, 1),
			oHolds: withOptions(ranged(0, 1))},
		"softplus-zero": {breaks: one("softplus(x = x)"), holds: one("softplus(x = x)"), o: ranged(0, 10.8, chip.M4),
			oHolds: withOptions(ranged(0, 10.4, chip.M4))},
		"state-width":   {breaks: stateful(270, ""), holds: stateful(256, ""), o: by(chip.CoreML, chip.M4)},
		"moving-update": {breaks: stateful(64, "at"), holds: stateful(64, vec(0, 0, 3, 0)), o: by(chip.CoreML)},
		"table-error":   {breaks: one("tanh(x = x)"), holds: one("relu(x = x)")},
		"gelu-modes": {breaks: one(`gelu(mode = string("TANH_APPROXIMATION"), x = x)`),
			holds: one(`gelu(mode = string("EXACT"), x = x)`),
			o:     on(chip.M6)},
		"slice-scale": {breaks: slices1(3), holds: slices1(3), o: ranged(-4095, 0, chip.M1),
			oHolds: withOptions(ranged(-4094, 0, chip.M1))},
		"slice-shuffle": {breaks: joinedSlices(3), holds: joinedSlices(2), o: on(chip.M2)},
		"round-offset": {breaks: one("round(x = x)"), holds: one("round(x = x)"), o: ranged(0, 1024, chip.M5),
			oHolds: withOptions(ranged(0, 1023, chip.M5))},
	}
	many := strings.Repeat(x64+" z%d = tanh(x = x)[name = string(\"z\")];\n", 60)
	for i := range 60 {
		many = strings.Replace(many, "%d", fmt.Sprint(i), 1)
	}
	c["many"] = ruleCase{breaks: fn(x64+" x", many+x64+` y = relu(x = x)[name = string("y")];`, "y"), holds: plain}
	return c
}
