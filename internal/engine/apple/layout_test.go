package apple

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/attributes"
)

// tensor returns a dumped attribute of a framework for fp16 [1, 4, 1, 4].
func tensor(name string, change func(*attributes.Tensor)) attributes.Tensor {
	s := attributes.Tensor{Name: name, Type: "Float16", Index: 7, Layout: ane.Layout{Name: name, DType: mil.FP16,
		Shape:   []int{1, 4, 1, 4},
		Batches: 1, Channels: 4, Depth: 1, Height: 1, Width: 4, BatchStride: 256, DepthStride: 256, PlaneStride: 64,
		RowStride: 64}}
	if change != nil {
		change(&s)
	}
	return s
}

func TestPlacesComeFromTheCompiledProgram(t *testing.T) {
	x := mil.Var{Name: "x", Type: mil.TensorOf(mil.FP16, 1, 4, 1, 4)}
	wide := tensor("x", func(s *attributes.Tensor) {
		l := &s.Layout
		l.RowStride, l.PlaneStride, l.DepthStride, l.BatchStride = 128, 128, 512, 512
	})
	got, err := ports([]mil.Var{x}, []attributes.Tensor{wide})
	require.NoError(t, err)
	require.Equal(t, 7, got[0].index)
	require.Equal(t, 128, got[0].RowStride)
	require.Equal(t, 512, got[0].Bytes())

	y := mil.Var{Name: "y", Type: x.Type}
	got, err = ports([]mil.Var{y, x}, []attributes.Tensor{tensor("x", nil), tensor("y", nil)})
	require.NoError(t, err)
	require.Equal(t, []string{"y", "x"}, []string{got[0].Name, got[1].Name}, "in the order of the text")
	want, err := ane.NewLayout("y", mil.FP16, 1, 4, 1, 4)
	require.NoError(t, err)
	require.True(t, want.Equal(got[0].Layout))
}

func TestACompiledProgramThatIsNotItsTextIsRefused(t *testing.T) {
	x := mil.Var{Name: "x", Type: mil.TensorOf(mil.FP16, 1, 4, 1, 4)}
	for what, tensors := range map[string][]attributes.Tensor{
		"none":        nil,
		"other name":  {tensor("z", nil)},
		"two":         {tensor("x", nil), tensor("y", nil)},
		"other type":  {tensor("x", func(s *attributes.Tensor) { s.Layout.DType = mil.FP32 })},
		"other shape": {tensor("x", func(s *attributes.Tensor) { s.Layout.Channels = 5 })},
	} {
		_, err := ports([]mil.Var{x}, tensors)
		require.ErrorIs(t, err, ane.ErrMismatch, what)
	}
}
