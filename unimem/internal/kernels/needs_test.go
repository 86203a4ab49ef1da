package kernels_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem/internal/kernels"
)

func push(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// What an untrusted caller asks for is known before a kernel runs; numbers whose products would overflow are refused.
func TestNeeds(t *testing.T) {
	const huge = math.MaxUint32
	for name, c := range map[string]struct {
		k       kernels.Kernel
		push    []byte
		lengths []int
		want    []int
		x, y    int
	}{
		"product":          {kernels.Product(), push(3), nil, []int{36, 36, 36}, 3, 3},
		"product of 0":     {kernels.Product(), push(0), nil, nil, 0, 0},
		"product, huge":    {kernels.Product(), push(huge), nil, nil, 0, 0},
		"product, wrapped": {kernels.Product(), push(1<<31 + 1), nil, nil, 0, 0},
		"no constants":     {kernels.Product(), nil, nil, nil, 0, 0},
		"scale":            {kernels.Scale(), push(5, 0, 0), nil, []int{20, 20}, 5, 1},
		"scale, strides":   {kernels.Scale(), push(1<<20, 0, 0), nil, []int{4 << 20, 4 << 20}, 1 << 14, 1},
		"scale, huge":      {kernels.Scale(), push(huge, 0, 0), nil, nil, 0, 0},
		"linear":           {kernels.Linear(), push(4, 3, 2, 0), []int{24}, []int{24, 56, 32}, 4, 2},
		"linear, fp16":     {kernels.Linear(), push(4, 3, 1, 1), []int{12}, []int{12, 26, 16}, 4, 1},
		"linear, format":   {kernels.Linear(), push(4, 3, 1, 3), []int{12}, nil, 0, 0},
		"linear, no row":   {kernels.Linear(), push(4, 3, 0, 0), []int{11}, nil, 0, 0},
		"linear, no ins":   {kernels.Linear(), push(4, 0, 0, 0), []int{12}, nil, 0, 0},
		"linear, first":    {kernels.Linear(), push(4, 3, huge, 0), []int{12}, nil, 0, 0},
		"linear, ranges":   {kernels.Linear(), push(4, 3, 0, 0), nil, nil, 0, 0},
	} {
		bytes, x, y, ok := c.k.Needs(c.push, c.lengths)
		require.Equal(t, c.want != nil, ok, name)
		if ok {
			require.Equal(t, c.want, bytes, name)
			require.Equal(t, []int{c.x, c.y}, []int{x, y}, name)
		}
	}
}
