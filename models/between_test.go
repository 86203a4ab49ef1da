package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/models"
)

func variable(name string, d mil.DType, shape ...int) mil.Var {
	return mil.Var{Name: name, Type: mil.TensorOf(d, shape...)}
}

// For all shapes the program runs, and its outputs are parts of its inputs.
func TestBetween(t *testing.T) {
	for name, c := range map[string]struct{ in, out []mil.Var }{
		"equal": {[]mil.Var{variable("x", mil.FP16, 1, 4, 1, 4)},
			[]mil.Var{variable("y", mil.FP16, 1, 4, 1, 4)}},
		"smaller": {[]mil.Var{variable("x", mil.FP16, 2, 5, 3, 7)},
			[]mil.Var{variable("y", mil.FP16, 1, 4, 2, 6)}},
		"larger": {[]mil.Var{variable("x", mil.FP16, 1, 4, 2, 6)},
			[]mil.Var{variable("y", mil.FP16, 2, 5, 3, 40)}},
		"both": {[]mil.Var{variable("x", mil.FP16, 1, 8, 2, 6)},
			[]mil.Var{variable("y", mil.FP16, 2, 5, 3, 3)}},
		"rank 5": {[]mil.Var{variable("x", mil.FP16, 3, 2, 8, 8, 16)},
			[]mil.Var{variable("y", mil.FP16, 3, 2, 8, 4, 20)}},
		"raised": {[]mil.Var{variable("x", mil.FP16, 8, 16)},
			[]mil.Var{variable("y", mil.FP16, 2, 3, 8, 8, 12)}},
		"lowered": {[]mil.Var{variable("x", mil.FP16, 2, 3, 8, 8, 12)}, []mil.Var{variable("y", mil.FP16, 40)}},
		"fp32": {[]mil.Var{variable("x", mil.FP32, 1, 4, 2, 6)},
			[]mil.Var{variable("y", mil.FP32, 1, 4, 2, 5)}},
		"bool": {[]mil.Var{variable("x", mil.Bool, 1, 4, 2, 6)},
			[]mil.Var{variable("y", mil.FP16, 1, 4, 2, 5)}},
		"to bool": {[]mil.Var{variable("x", mil.FP16, 1, 4, 2, 6)},
			[]mil.Var{variable("y", mil.Bool, 1, 4, 2, 8)}},
		"more outputs": {[]mil.Var{variable("a", mil.FP16, 1, 4, 1, 8)},
			[]mil.Var{variable("y1", mil.FP16, 1, 4, 1, 8), variable("y2", mil.FP16, 1, 2, 1, 8)}},
		"unused input": {[]mil.Var{variable("a", mil.FP16, 1, 4, 1, 8), variable("b", mil.FP16, 1, 4, 1, 8)},
			[]mil.Var{variable("y", mil.FP16, 1, 4, 1, 8)}},
		"single elements": {[]mil.Var{variable("x", mil.FP16, 1)}, []mil.Var{variable("y", mil.FP16, 1, 1, 1, 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := models.Between(name, c.in, c.out)
			require.NoError(t, err)
			compare(t, m)
		})
	}
}

func TestBetweenRefuses(t *testing.T) {
	x := []mil.Var{variable("x", mil.FP16, 1, 4)}
	for name, c := range map[string]struct{ in, out []mil.Var }{
		"no input":  {nil, x},
		"no output": {x, nil},
		"integers":  {[]mil.Var{variable("x", mil.Int32, 4)}, []mil.Var{variable("y", mil.FP16, 4)}},
		"two names": {x, []mil.Var{variable("x", mil.FP16, 1, 4)}},
	} {
		_, err := models.Between(name, c.in, c.out)
		require.Error(t, err, name)
	}
}
