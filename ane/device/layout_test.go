package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/objcbridge"
)

// symbol is what a framework reports for fp16 [1, 4, 1, 4], as measured.
func symbol(name string, change func(*objcbridge.Symbol)) objcbridge.Symbol {
	s := objcbridge.Symbol{Name: name, Type: "Float16", Index: 7, Batches: 1, Channels: 4, Depth: 1, Height: 1, Width: 4,
		BatchStride: 256, PlaneStride: 64, DepthStride: 64, RowStride: 64, PlaneCount: 4, Interleave: 1}
	if change != nil {
		change(&s)
	}
	return s
}

func TestPlacesComeFromTheCompiledProgram(t *testing.T) {
	x := mil.Var{Name: "x", Type: mil.TensorOf(mil.FP16, 1, 4, 1, 4)}
	wide := symbol("x", func(s *objcbridge.Symbol) {
		s.RowStride, s.DepthStride, s.PlaneStride, s.BatchStride = 128, 128, 128, 512
	})
	got, err := ports([]mil.Var{x}, []objcbridge.Symbol{wide})
	require.NoError(t, err)
	require.Equal(t, 7, got[0].index)
	require.Equal(t, 128, got[0].RowStride)
	require.Equal(t, 512, got[0].Bytes())

	y := mil.Var{Name: "y", Type: x.Type}
	got, err = ports([]mil.Var{y, x}, []objcbridge.Symbol{symbol("x", nil), symbol("y", func(s *objcbridge.Symbol) { s.DepthStride = 0 })})
	require.NoError(t, err)
	require.Equal(t, []string{"y", "x"}, []string{got[0].Name, got[1].Name}, "the order of the text")
	want, err := ane.NewLayout("y", mil.FP16, 1, 4, 1, 4)
	require.NoError(t, err)
	require.True(t, want.Equal(got[0].Layout))
}

func TestACompiledProgramThatIsNotItsTextIsRefused(t *testing.T) {
	x := mil.Var{Name: "x", Type: mil.TensorOf(mil.FP16, 1, 4, 1, 4)}
	for what, symbols := range map[string][]objcbridge.Symbol{
		"none":        nil,
		"other name":  {symbol("z", nil)},
		"two":         {symbol("x", nil), symbol("y", nil)},
		"other type":  {symbol("x", func(s *objcbridge.Symbol) { s.Type = "Float32" })},
		"strange":     {symbol("x", func(s *objcbridge.Symbol) { s.Type = "Float8" })},
		"other shape": {symbol("x", func(s *objcbridge.Symbol) { s.Channels = 5 })},
		"interleaved": {symbol("x", func(s *objcbridge.Symbol) { s.Interleave = 4 })},
	} {
		_, err := ports([]mil.Var{x}, symbols)
		require.ErrorIs(t, err, ane.ErrMismatch, what)
	}
}
