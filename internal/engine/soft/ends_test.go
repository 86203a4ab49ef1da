package soft

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/buildinfo"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// ends is a runner whose context is ctx.
type ends struct {
	run.Runner
	ctx *asked
}

// Run implements run.Runner.
func (e *ends) Run(c *run.Call) {
	c.Ctx = e.ctx
	e.Runner.Run(c)
}

// kindOf is the type of a runner, and whether it has an operand in strips.
func kindOf(r run.Runner) string {
	kind := fmt.Sprintf("%T", r)
	if f := reflect.Indirect(reflect.ValueOf(r)).FieldByName("strips"); f.IsValid() && !f.IsZero() &&
		f.Kind() != reflect.Int {
		kind += " in strips"
	}
	return strings.TrimPrefix(kind, "*")
}

// TestRunsEndWithTheirContext: each of the runners of AVX2 looks at its context within a step, and once that has ended,
// hardly again.
func TestRunsEndWithTheirContext(t *testing.T) {
	effort.SkipShort(t)
	const k = "tensor<fp16, "
	weight := func(shape string) string {
		return k + shape + "> w = fill(shape = tensor<int32, [" + fmt.Sprint(1+strings.Count(shape, ",")) + "]>(" + shape +
			"), value = fp16(0.5));"
	}
	image := k + "[1, 64, 64, 64]> "
	list := strings.Repeat("3, ", 1<<16-1) + "3"
	info := fmt.Sprintf("program(1.3)\n[buildInfo = dict<string, string>({{%q, %q}})]\n", buildinfo.Products,
		buildinfo.Words)
	for name, c := range map[string]struct {
		params, body, kind string
		words              bool
	}{
		"attention": {kind: "kernels.attender in strips", params: k + "[1, 512, 64]> q, " + k + "[1, 2048, 64]> v",
			body: k + "[1, 512, 64]> y = scaled_dot_product_attention(query = q, key = v, value = v);"},
		"conv_transpose": {kind: "kernels.product in strips", params: k + "[1, 64, 32, 32]> x",
			body: weight("[64, 64, 3, 3]") + k + "[1, 64, 65, 65]> y = conv_transpose(x = x, weight = w, " +
				"strides = tensor<int32, [2]>([2, 2]));"},
		"conv": {kind: "matrix.Windows", params: image + "x",
			body: weight("[64, 64, 3, 3]") + image + `y = conv(x = x, weight = w, pad_type = string("same"));`},
		"conv of channels": {kind: "spatial.depthwise", params: image + "x", body: weight("[64, 1, 3, 3]") + image +
			`y = conv(x = x, weight = w, groups = int32(64), pad_type = string("same"));`},
		"max_pool": {kind: "spatial.maxima", params: image + "x", body: image +
			`y = max_pool(x = x, kernel_sizes = tensor<int32, [2]>([3, 3]), pad_type = string("same"));`},
		"avg_pool": {kind: "spatial.means", params: image + "x", body: image +
			`y = avg_pool(x = x, kernel_sizes = tensor<int32, [2]>([3, 3]), pad_type = string("same"));`},
		"reduce_mean": {kind: "spatial.sums", params: k + "[8192, 49]> x", body: k +
			"[8192, 1]> y = reduce_mean(x = x, axes = tensor<int32, [1]>([1]), keep_dims = bool(true));"},
		"resize": {kind: "spatial.resizer", params: image + "x", body: k + "[1, 64, 128, 128]> y = resize_bilinear(" +
			"x = x, target_size_height = int32(128), target_size_width = int32(128));"},
		"matmul": {kind: "kernels.product in strips", params: k + "[512, 512]> x",
			body: weight("[512, 512]") + k + "[512, 512]> y = matmul(x = x, y = w);"},
		"linear of packed weights": {kind: "weighted.product", params: k + "[512, 256]> x", words: true,
			body: k + "[256, 256]> w = constexpr_blockwise_shift_scale(data = tensor<int8, [256, 256]>([" + list +
				"]), scale = tensor<fp16, [256, 1]>([" + list[:3*256-2] + "]));" + k + "[512, 256]> y = linear(x = x, weight = w);"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sized{params: c.params, body: c.body}
			text := s.text(nil)
			if c.words {
				text = strings.Replace(text, "program(1.3)\n", info, 1)
			}
			spent := func(end int) (*asked, spent, []string) {
				ctx, kinds := &asked{Context: t.Context(), end: end}, []string{}
				e := spentBy(t, text, c.words, func(r run.Runner, _ bool) run.Runner {
					kinds = append(kinds, kindOf(r))
					return &ends{r, ctx}
				})
				return ctx, e, kinds
			}
			whole, e, kinds := spent(0)
			if simd.Best() == simd.AVX2 {
				require.Contains(t, kinds, c.kind)
			}
			t.Log(whole.count, " looks, ", e.work, " work, ", kinds)
			require.GreaterOrEqual(t, whole.count, max(16, e.work>>23))
			for _, end := range []int{1, whole.count / 3} {
				ended, _, _ := spent(end)
				require.LessOrEqual(t, ended.count, end+1+2*len(kinds), "ended at %d of %d", end, whole.count)
			}
		})
	}
}
