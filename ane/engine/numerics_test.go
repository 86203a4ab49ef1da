package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/numerics"
)

// twice is x + x: 2049 halves rounded away from zero are 2050 on the M6, and the text of one program in two
// modes must not be one entry of a cache.
var twice = []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        fp16 one = const()[name = string("one"), val = fp16(1)];
        tensor<fp16, [1, 64, 1, 32]> y = add(x = x, y = one)[name = string("y")];
    } -> (y);
}`)

// addOne evaluates 2048 + 1.
func addOne(t *testing.T, name string, opts ...engine.Option) (float32, ane.Receipt) {
	t.Helper()
	d, err := engine.Open(t.Context(), name, opts...)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	m, err := d.Compile(t.Context(), ane.Source{Text: twice})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(t.Context())) }()
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	require.NoError(t, r.Input("x").Set(2048, 0, 5, 0, 7))
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	v, err := r.Output("y").At(0, 5, 0, 7)
	require.NoError(t, err)
	return v, d.Receipt()
}

func TestNumericsOfEveryEngine(t *testing.T) {
	leaktest.SkipEmulated(t)
	for _, s := range engine.Probe() {
		d, err := engine.Open(t.Context(), s.Name, engine.Numerics(chip.M6))
		if err == nil {
			require.NoError(t, d.Close())
		}
		if s.Name != engine.Soft && s.Name != engine.Broker {
			require.ErrorIs(t, err, ane.ErrUnavailable, s.Name)
			require.ErrorContains(t, err, "cannot be chosen")
		}
	}
	for _, name := range []string{engine.Soft, engine.Broker} {
		if name == engine.Broker && !brokertest.Here() {
			continue
		}
		for _, m := range numerics.Modes() {
			want := float32(2048)
			if m.Rules().Has(numerics.HalfAway) {
				want = 2050
			}
			got, receipt := addOne(t, name, engine.Numerics(m.Chip()))
			require.Equal(t, want, got, "%s %s", name, m)
			require.True(t, strings.HasPrefix(receipt.Numerics, m.String()+":"), receipt.Numerics)
		}
	}
}
