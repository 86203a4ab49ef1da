package models_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/models"
)

// seeds is the number of inputs of each model for the simulated chips.
const seeds = 3

// Every measured chip passes every model within half of its tolerance. The other half
// is for chips that are not measured.
func TestEveryChipMeetsTheReferences(t *testing.T) {
	for _, m := range everything(t) {
		t.Run(m.Name, func(t *testing.T) {
			if m.Tolerance.Abs > 0 {
				m.Tolerance.Abs /= 2
				m.Tolerance.Rel /= 2
			}
			for _, c := range builds(m) {
				for seed := range uint64(seeds) {
					in := inputs(t, m, seed)
					off, all := refused(t, c, m, in, m.Reference(in))
					require.Zero(t, off, "%s, %+v, seed %d: of %d outputs", c.name, c.recipe, seed, all)
				}
			}
		})
	}
}

// Sums of products are exact in every order of addition, and far below 32768, above
// which the engine gives infinity.
func TestOrderOfAdditionDoesNotMatter(t *testing.T) {
	orders := map[string]func(n int) []int{
		"backwards": func(n int) []int {
			order := make([]int, n)
			for i := range order {
				order[i] = n - 1 - i
			}
			return order
		},
		"shuffled": rand.New(rand.NewPCG(1, 2)).Perm,
	}
	for _, m := range everything(t) {
		in := inputs(t, m, 1)
		for _, c := range builds(m) {
			straight, reach, err := evaluate(c, m, in)
			require.NoError(t, err)
			require.Less(t, reach, limit/100., m.Name)
			if m.Tolerance.Abs > 0 {
				continue
			}
			for name, order := range orders {
				c.order = order
				got, _, err := evaluate(c, m, in)
				require.NoError(t, err)
				require.Equal(t, straight, got, "%s on %s, %s", m.Name, c.name, name)
			}
		}
	}
}

// The simulation detects that M1 rounds sums of finer inputs: they differ from the
// reference by more than half a unit in the last place.
func TestFinerInputsFailOnM1(t *testing.T) {
	fine, err := models.FineConvolution()
	require.NoError(t, err)
	fine.Tolerance = models.Tolerance{Abs: 1e-6, Rel: 1. / 2048}
	in := inputs(t, fine, 1)
	m1, m6 := chips()[0], chips()[1]
	off, all := refused(t, m1, fine, in, fine.Reference(in))
	require.Equal(t, []int{223, 2048}, []int{off, all})
	off, _ = refused(t, m6, fine, in, fine.Reference(in))
	require.Zero(t, off)
}

// builds returns the chips, with every recipe if m has operators that need one.
func builds(m models.Model) []chip {
	var all []chip
	for _, c := range chips() {
		for _, r := range recipes() {
			if c.recipe = r; r == (recipe{}) || m.Tolerance.Abs > 0 {
				all = append(all, c)
			}
		}
	}
	return all
}

// refused counts the outputs of m on c that its tolerance refuses.
func refused(t *testing.T, c chip, m models.Model, in, want map[string][]float64) (off, all int) {
	out, _, err := evaluate(c, m, in)
	require.NoError(t, err)
	require.Len(t, out, len(want))
	for name, values := range want {
		require.Len(t, out[name], len(values))
		all += len(values)
		for i, v := range values {
			if !m.Tolerance.Allows(out[name][i], v) {
				off++
			}
		}
	}
	return off, all
}
