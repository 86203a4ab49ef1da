package apple_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/engine/standin"
)

// mapped is y = call of x, of the shape [1, channels, 1, 32].
func mapped(channels int, call string) string {
	return fmt.Sprintf(`program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}})]
{
    func main<ios18>(tensor<fp16, [1, %d, 1, 32]> x) {
        tensor<fp16, [1, %[1]d, 1, 32]> y = %s[name = string("y")];
    } -> (y);
}`, channels, call)
}

const lrn = "local_response_norm(alpha = fp16(1), beta = fp16(1), k = fp16(1), size = int32(3), x = x)"

// topk returns the largest of each row and its place.
const topk = `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}})]
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        tensor<fp16, [1, 64, 1, 1]> y, tensor<int32, [1, 64, 1, 1]> at = topk(ascending = bool(false), axis = int32(-1), k = int32(1), return_indices = bool(true), sort = bool(true), x = x)[name = string("y")];
    } -> (y);
}`

// batch is a convolution of two images whose weight is an input.
const batch = `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}})]
{
    func main<ios18>(tensor<fp16, [16, 16, 1, 1]> w, tensor<fp16, [2, 16, 1, 32]> x) {
        tensor<fp16, [2, 16, 1, 32]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string("same"), strides = tensor<int32, [2]>([1, 1]), weight = w, x = x)[name = string("y")];
    } -> (y);
}`

// TestRefusalsOfAChip: what the compiler of a chip refuses arrives with the framework's own error,
// as dumps have it: with InvalidMILProgram for text and types, without a reason for limits, with 22
// for topk, and without an NSError when the compiler's process ends.
func TestRefusalsOfAChip(t *testing.T) {
	o := inChild(t, task{Options: standin.Options{Chip: chip.M4}, Texts: []string{
		mapped(15, lrn), mapped(16, lrn), mapped(64, "gelu(x = x)"), topk, batch}})
	require.Empty(t, o.Start+o.Open)
	require.Empty(t, o.Left)
	require.Len(t, o.Texts, 5)
	require.Empty(t, o.Texts[0])
	for i, want := range []string{"FAILED: err=()", "FAILED: err=(InvalidMILProgram)", "code 22", "without an NSError"} {
		require.Contains(t, o.Texts[i+1], want)
	}
}

// TestSlotsOfAChip: a chip has its number of slots, and the load beyond is refused.
func TestSlotsOfAChip(t *testing.T) {
	for _, c := range []chip.Chip{chip.M4, chip.M5} {
		slots := c.Spec().Slots.Value
		o := inChild(t, task{Options: standin.Options{Chip: c, ProgramLimit: 2 * slots,
			Pool: filepath.Join(t.TempDir(), "slots")}, Programs: slots + 1, Keep: true})
		require.Empty(t, o.Start+o.Open)
		require.Equal(t, slots, o.Compiled)
		require.True(t, o.Exhausted, o.Compile)
	}
}
