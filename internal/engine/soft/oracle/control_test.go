package oracle_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// repeated runs a product, a sum and a function as often as a whole number of the program says.
var repeated = program("tensor<fp16, [4, 32]>", `
	tensor<fp16, [32, 32]> w = const()[name = string("w"), val = WEIGHT];
	tensor<fp16, [32]> g = const()[name = string("g"), val = WEIGHT];
	tensor<fp16, [4, 32]> first = mul(x = x, y = fp16(0.5));
	int32 n, tensor<fp16, [4, 32]> h, tensor<fp16, [4, 32]> before = while_loop(loop_vars = (int32(0), first, x))
		test(int32 k, tensor<fp16, [4, 32]> a, tensor<fp16, [4, 32]> b) { bool m = less(x = k, y = int32(5)); } -> (m)
		step(int32 k, tensor<fp16, [4, 32]> a, tensor<fp16, [4, 32]> b) {
			int32 next = add(x = k, y = int32(1));
			tensor<fp16, [4, 32]> p = linear(x = a, weight = w, bias = g);
			tensor<fp16, [4, 32]> q = add(x = p, y = first);
			tensor<fp16, [4, 32]> r = tanh(x = q);
		} -> (next, r, a);
	tensor<fp16, [4, 32]> y = sub(x = h, y = before);
`)

// swaps exchanges two loop variables, one of them seen through a view, within a loop that chooses between branches.
var swaps = program("tensor<fp16, [2, 3]>", `
	tensor<fp16, [2, 3]> u = mul(x = x, y = fp16(0.25));
	int32 n, tensor<fp16, [2, 3]> a, tensor<fp16, [2, 3]> b = while_loop(loop_vars = (int32(0), x, u))
		test(int32 k, tensor<fp16, [2, 3]> p, tensor<fp16, [2, 3]> q) { bool m = less(x = k, y = int32(4)); } -> (m)
		step(int32 k, tensor<fp16, [2, 3]> p, tensor<fp16, [2, 3]> q) {
			int32 next = add(x = k, y = int32(1));
			int32 odd = mod(x = k, y = int32(2));
			bool is = equal(x = odd, y = int32(1));
			tensor<fp16, [2, 3]> r, tensor<fp16, [2, 3]> s = cond(pred = is)
				yes() {
					tensor<fp16, [3, 2]> t = reshape(x = p, shape = tensor<int32, [2]>([3, 2]));
					tensor<fp16, [2, 3]> v = reshape(x = t, shape = tensor<int32, [2]>([2, 3]));
				} -> (q, v)
				no() {
					int32 c, tensor<fp16, [2, 3]> d = while_loop(loop_vars = (k, q))
						test(int32 k, tensor<fp16, [2, 3]> e) { bool m = less(x = k, y = int32(3)); } -> (m)
						step(int32 k, tensor<fp16, [2, 3]> e) {
							tensor<fp16, [2, 3]> f = add(x = e, y = p);
							int32 i = add(x = k, y = int32(1));
						} -> (i, f);
				} -> (d, p);
		} -> (next, s, r);
	tensor<fp16, [2, 3]> never = cond(pred = bool(false))
		yes() { tensor<fp16, [2, 3]> z = sub(x = a, y = a); } -> (z)
		no() {} -> (b);
	int32 none, tensor<fp16, [2, 3]> kept = while_loop(loop_vars = (int32(9), never))
		test(int32 k, tensor<fp16, [2, 3]> e) { bool m = less(x = k, y = int32(3)); } -> (m)
		step(int32 k, tensor<fp16, [2, 3]> e) { tensor<fp16, [2, 3]> z = sub(x = e, y = e); } -> (k, z);
	tensor<fp16, [2, 3]> w = add(x = kept, y = a);
	tensor<fp16, [2, 3]> y = add(x = w, y = u);
`)

// sequence reads one list and writes another, as converters write recurrent layers; the shape of an element is open.
var sequence = program("tensor<fp16, [3, 2, 8]>", `
	tensor<fp16, [16, 8]> w = const()[name = string("w"), val = WEIGHT];
	list<tensor<fp16, [?, 8]>, 3> e = make_list(init_length = int32(3), dynamic_length = bool(true),
		elem_shape = (string("is0"), int32(8)), dtype = string("fp16"));
	list<tensor<fp16, [?, 8]>, 3> all = list_scatter(ls = e, indices = tensor<int32, [3]>([0, 1, 2]), value = x);
	list<tensor<fp16, [?, 8]>, 3> o = make_list(init_length = int32(3), dynamic_length = bool(true),
		elem_shape = (string("is0"), int32(8)), dtype = string("fp16"));
	tensor<fp16, [2, 8]> zero = fill(shape = tensor<int32, [2]>([2, 8]), value = fp16(0));
	int32 n, list<tensor<fp16, [?, 8]>, 3> seen, tensor<fp16, [2, 8]> last = while_loop(loop_vars = (int32(0), o, zero))
		test(int32 k, list<tensor<fp16, [?, 8]>, 3> l, tensor<fp16, [?, 8]> h) {
			bool m = less(x = k, y = int32(3));
		} -> (m)
		step(int32 k, list<tensor<fp16, [?, 8]>, 3> l, tensor<fp16, [?, 8]> h) {
			tensor<fp16, [?, 8]> i = list_read(ls = all, index = k);
			tensor<fp16, [2, 16]> p = matmul(x = h, y = w, transpose_y = bool(true));
			(tensor<fp16, [2, 8]> r, tensor<fp16, [2, 8]> s) = split(x = p, num_splits = int32(2), axis = int32(1));
			tensor<fp16, [2, 8]> g = sigmoid(x = r);
			tensor<fp16, [2, 8]> t = add(x = s, y = i);
			tensor<fp16, [2, 8]> next = mul(x = g, y = t);
			list<tensor<fp16, [2, 8]>, 3> more = list_write(ls = l, index = k, value = next);
			int32 up = add(x = k, y = int32(1));
		} -> (up, more, next);
	tensor<fp16, [3, 2, 8]> stacked = list_gather(ls = seen, indices = tensor<int32, [3]>([2, 0, 1]));
	tensor<fp16, [3, 2, 8]> y = add(x = stacked, y = last);
`)

// Loops and branches agree with the evaluation in float64.
func TestControlFlow(t *testing.T) {
	for name, text := range map[string]string{"repeated": repeated, "swaps": swaps, "sequence": sequence} {
		t.Run(name, func(t *testing.T) {
			p, err := mil.Parse(name, []byte(placed(text)))
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(5, 6))
			files, in := weights(t, r, p), inputs(t, r, p)
			judge(t, ane.Source{File: name, Program: p, Weights: ane.Files(files)}, in, files)
		})
	}
}
