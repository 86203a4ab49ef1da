package standin

import (
	"fmt"
	"slices"
	"strings"
)

// sized has for each limit of chip.Limits that is a number a program that reaches n. A chip takes
// the program of its limit and refuses that of one more.
var sized = map[string]func(n int) string{
	"KernelWidth":  func(n int) string { return convolution(16, 1, 1, n) },
	"KernelHeight": func(n int) string { return convolution(16, 1, n, 1) },
	"KernelSquare": func(n int) string { return convolution(16, 1, n, n) },
	"PoolWidth": func(n int) string {
		return mapped(fmt.Sprintf(`max_pool(ceil_mode = bool(false), kernel_sizes = %s, pad = %s, pad_type = string("same"), `+
			`strides = %s, x = x)`, ints(1, n), ints(0, 0, 0, 0), ints(1, 1)), 1, 4, 1, 64)
	},
	"MatmulInner": func(n int) string {
		return fn(fp16s(1, 1, 1, n)+" a, "+fp16s(1, 1, n, 1)+" b", fp16s(1, 1, 1, 1)+
			` y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = a, y = b)[name = string("y")];`)
	},
	"Axis":         func(n int) string { return mapped("relu(x = x)", 1, 1, 1, n) },
	"Channels":     func(n int) string { return mapped("relu(x = x)", 1, n, 1, 1) },
	"ConvChannels": func(n int) string { return convolution(n, 1, 1, 1) },
	"Rank": func(n int) string {
		return mapped("relu(x = x)", append(slices.Repeat([]int{1}, n-1), 32)...)
	},
	"MatmulRank": func(n int) string {
		batch := slices.Repeat([]int{1}, n-2)
		a, b := fp16s(append(batch, 2, 32)...), fp16s(append(batch, 32, 2)...)
		return fn(a+" a, "+b+" b", fp16s(append(batch, 2, 2)...)+
			` y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = a, y = b)[name = string("y")];`)
	},
	"DynamicBatch": func(n int) string {
		return fn(fp16s(16, 16, 1, 1)+" w, "+fp16s(n, 16, 1, 32)+" x", fp16s(n, 16, 1, 32)+" y = conv("+
			convolving+`, weight = w, x = x)[name = string("y")];`)
	},
	"LRNChannels": func(n int) string {
		return mapped("local_response_norm(alpha = fp16(1), beta = fp16(1), k = fp16(1), size = int32(3), x = x)", 1, n, 1, 32)
	},
	"Chain": func(n int) string {
		s := weightText("w", 16, 16, 1, 1)
		last := "x"
		for i := range n {
			s += fmt.Sprintf("%s v%d = conv(%s, weight = w, x = %s)[name = string(\"v\")];\n", fp16s(1, 16, 1, 32), i,
				convolving, last)
			last = fmt.Sprintf("v%d", i)
		}
		return strings.Replace(fn(fp16s(1, 16, 1, 32)+" x", s), "-> (y)", "-> ("+last+")", 1)
	},
}

// otherwise has the limits of chip.Limits without a program of sized: the rule of lint whose
// programs are in emulate.txtar, or the test that judges.
var otherwise = map[string]string{
	"TopK": "topk", "BlockInt4": "int4-blocks", "UnusedInput": "unused-input", "SurfaceBytes": "large-surface",
	"MinSurface": "TestStrictSurfaces", "Slots": "TestSlotsOfAChip",
}

// tried512 is the reason of a limit that is only the most that was tried.
const tried512 = "512 compile; no more were tried"

// before has limits that their chip never reaches, with the reason.
var before = map[string]string{
	"Chain/m4": tried512, "PoolWidth/m3": "memory's compiler refuses max_pool on it",
	"MatmulInner/m1": "Axis ends first", "MatmulInner/m2": "Axis ends first",
}

// advice has the limits and the rules of lint with a number that no fact ties to a refusal in
// memory, with the reason.
var advice = map[string]string{
	"RewrittenFrom": "slow only", "kernel-rewritten": "slow only", "last-relu": "slow only",
	"many-operands": "slow only",
	"odd-tiles":     "slow only", "w8a8-1x1": "slow only", "slow-bridge": "slow only",
	"elementwise-chain": "compiles slowly", "joined-branches": "compiles slowly", "split-convs": "compiles slowly and swaps",
	"AvgPoolWidth": "the largest that was tried, not one that failed",
	"Attention":    "beyond it attention is no native layer, and runs",
	"AttentionLeg": "the same", "attention-size": "the same",
	"Palette3": "stored with 4 bits", "palette-3bit": "stored with 4 bits",
	"Cores": "not a size of programs", "CoreWeights": "slow only", "OperandBytes": "slow only",
	"StreamBytes": "slow only", "TaskReads": "slow only: many-operands",
	"Loaded": "depends on the size of the programs; Slots is the machine's limit", "load-budget": "the same",
	"WeightBytes": "272 MB run", "weight-budget": "272 MB run",
	"weight-files": "of the profile 27-names, not of a chip; the engine packs the files into one",
	"cpu-small":    "Core ML's placement", "cpu-int32": "Core ML's placement", "cpu-operator": "Core ML's placement",
	"conv-bias": "contested: others run it", "softmax-size": "contested: others run 32000",
	"fp32-io": "one report on M1", "old-dialect": "one report on M1",
	"fused-square": "seen by E5 alone", "reshape-open": "no fact either way", "opset-unknown": "depends on the system",
	"small-surface": "TestStrictSurfaces", "equal-sizes": "TestStrictSurfaces: contested",
	"padded-width": "how tensors are placed", "nested-const": "no fact either way",
	"accumulator-overflow": "values", "fp16-overflow": "values", "int8-sum": "values", "vanishing-products": "values",
	"small-epsilon": "values", "softplus-zero": "values", "round-offset": "values", "rounded-product": "values",
	"slice-shuffle": "values", "nan-number": "values", "literal-range": "values", "domain": "values",
	"gelu-modes": "values", "inverse-epsilon": "values", "table-error": "values", "fp32-arithmetic": "values",
	"slice-scale": "values", "blob-offset": "garbage weights", "blob-overlap": "garbage weights",
	"dynamic-conv-ignored": "wrong values", "state": "refused by E5 alone, unknown in memory",
	"opset-os":        "depends on the system, not on the chip",
	"einsum-equation": "others were not tried", "moving-update": "Core ML on one system",
	"state-width": "Core ML's placement", "weight-file": "of the file, which the engine reads",
}

const convolving = `dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), ` +
	`pad_type = string("same"), strides = tensor<int32, [2]>([1, 1])`

// fn has inputs, statements and an output y.
func fn(params, body string) string {
	return "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"3505.4.1\"}})]\n{\n" +
		"func main<ios18>(" + params + ") {\n" + body + "\n} -> (y);\n}\n"
}

// mapped is y = call of x, both of one shape.
func mapped(call string, shape ...int) string {
	return fn(fp16s(shape...)+" x", fp16s(shape...)+" y = "+call+`[name = string("y")];`)
}

// convolution has ci channels, one output channel, and a kernel of kh by kw.
func convolution(ci, co, kh, kw int) string {
	return fn(fp16s(1, ci, 32, 32)+" x", weightText("w", co, ci, kh, kw)+fp16s(1, co, 32, 32)+" y = conv("+convolving+
		`, weight = w, x = x)[name = string("y")];`)
}

func weightText(name string, shape ...int) string {
	return fmt.Sprintf("%s %s = const()[name = string(%q), val = %[1]s(BLOBFILE(path = string(\"@model_path/w.bin\"), "+
		"offset = uint64(64)))];\n", fp16s(shape...), name, name)
}

func fp16s(shape ...int) string {
	return "tensor<fp16, " + strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") + ">"
}

func ints(list ...int) string {
	return fmt.Sprintf("tensor<int32, [%d]>(%s)", len(list), strings.ReplaceAll(fmt.Sprint(list), " ", ", "))
}
