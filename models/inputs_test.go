package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/models"
)

// inputs generates every input of m.
func inputs(t *testing.T, m models.Model, seed uint64) map[string][]float64 {
	p, err := mil.Parse(m.Name, m.Text)
	require.NoError(t, err)
	in := map[string][]float64{}
	for _, v := range p.Funcs[0].Params {
		n, ok := v.Type.Elements()
		require.True(t, ok)
		in[v.Name] = m.Input(v.Name, n, seed)
	}
	return in
}

// everything lists the models and the filters.
func everything(t *testing.T) []models.Model {
	all, err := models.All()
	require.NoError(t, err)
	for _, f := range models.Filters() {
		m, err := f.Model(3, 9, 14)
		require.NoError(t, err)
		all = append(all, m)
	}
	return all
}
