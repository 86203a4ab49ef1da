package models_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// The hardware supports fp16, fp32 and bool for inputs and outputs. It refuses integers,
// or fails on them.
func TestNoModelHasIntegerInputsOrOutputs(t *testing.T) {
	for _, m := range everything(t) {
		p, err := mil.Parse(m.Name, m.Text)
		require.NoError(t, err)
		for _, f := range p.Funcs {
			edges := slices.Clone(f.Params)
			for _, op := range f.Body {
				for _, v := range op.Results {
					if slices.ContainsFunc(f.Results, func(r mil.Ref) bool { return r.Name == v.Name }) {
						edges = append(edges, v)
					}
				}
			}
			require.Len(t, edges, len(f.Params)+len(f.Results))
			for _, v := range edges {
				require.Contains(t, []mil.DType{mil.FP16, mil.FP32, mil.Bool}, v.Type.DType, "%s: %s", m.Name, v.Name)
			}
		}
	}
}
