package kernbench

import (
	"fmt"
	"strings"
)

// Sizes of a block of GPT-2 small.
const (
	tokens = 256
	width  = 768
	heads  = 12
	head   = width / heads
	inner  = 4 * width
)

const blockName = "GPT-2 small block, 256 tokens"

// block is a block of a transformer of the size of GPT-2 small on 256 tokens, with constant weights, for as many
// workers as processors. Its floor are its matrix products alone.
func block() (program string, floor side) {
	var b strings.Builder
	row := fmt.Sprintf("tensor<fp16, [%d, %d]>", tokens, width)
	norm := func(to, from string) {
		fmt.Fprintf(&b, "%s %s = layer_norm(x = %s, axes = tensor<int32, [1]>([1]), epsilon = fp16(0.00001));\n", row,
			to, from)
	}
	split := fmt.Sprintf("tensor<fp16, [%d, %d, %d]>", heads, tokens, head)
	norm("n", "x")
	for _, name := range []string{"q", "k", "v"} {
		b.WriteString(linear(name+"0", "n", width, width))
		fmt.Fprintf(&b, "tensor<fp16, [%d, %d, %d]> %s1 = reshape(x = %s0, shape = tensor<int32, [3]>([%d, %d, %d]));\n",
			tokens, heads, head, name, name, tokens, heads, head)
		fmt.Fprintf(&b, "%s %s = transpose(x = %s1, perm = tensor<int32, [3]>([1, 0, 2]));\n", split, name, name)
	}
	scores := fmt.Sprintf("tensor<fp16, [%d, %d, %d]>", heads, tokens, tokens)
	fmt.Fprintf(&b, "%s s = matmul(x = q, y = k, transpose_y = bool(true));\n", scores)
	fmt.Fprintf(&b, "%s t = mul(x = s, y = fp16(0.125));\n", scores)
	fmt.Fprintf(&b, "%s p = softmax(x = t);\n", scores)
	fmt.Fprintf(&b, "%s a = matmul(x = p, y = v);\n", split)
	fmt.Fprintf(&b, "tensor<fp16, [%d, %d, %d]> a1 = transpose(x = a, perm = tensor<int32, [3]>([1, 0, 2]));\n",
		tokens, heads, head)
	fmt.Fprintf(&b, "%s a2 = reshape(x = a1, shape = tensor<int32, [2]>([%d, %d]));\n", row, tokens, width)
	b.WriteString(linear("o", "a2", width, width))
	fmt.Fprintf(&b, "%s r = add(x = x, y = o);\n", row)
	norm("m", "r")
	b.WriteString(linear("f", "m", width, inner))
	fmt.Fprintf(&b, "tensor<fp16, [%d, %d]> g = gelu(x = f, mode = string(\"TANH_APPROXIMATION\"));\n", tokens, inner)
	b.WriteString(linear("h", "g", inner, width))
	fmt.Fprintf(&b, "%s y = add(x = r, y = h);\n", row)

	only := func(k, n int) string {
		return text(fmt.Sprintf("tensor<fp16, [%d, %d]> x", tokens, k), linear("y", "x", k, n))
	}
	square := only(width, width)
	attend := text(fmt.Sprintf("%s x, %s z", split, split),
		fmt.Sprintf("%s s = matmul(x = x, y = z, transpose_y = bool(true)); %s y = matmul(x = s, y = z);", scores,
			split))
	return text(row+" x", b.String()), programs(0, nil, square, square, square, square, attend, only(width, inner),
		only(inner, width))
}

// linear is one statement, with its constant weights.
func linear(to, from string, k, n int) string {
	return fmt.Sprintf("tensor<fp16, [%[1]d, %[2]d]> %[3]s_w = fill(shape = tensor<int32, [2]>([%[1]d, %[2]d]), "+
		"value = fp16(0.02));\ntensor<fp16, [%[1]d]> %[3]s_b = fill(shape = tensor<int32, [1]>([%[1]d]), "+
		"value = fp16(0.1));\ntensor<fp16, [%[5]d, %[1]d]> %[3]s = linear(x = %[4]s, weight = %[3]s_w, bias = "+
		"%[3]s_b);\n",
		n, k, to, from, tokens)
}
