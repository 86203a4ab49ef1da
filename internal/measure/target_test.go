package measure

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A figure misses its target if it exceeds it by more than the spread of the rounds.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		rounds               []float64
		unreachable, verdict string
	}{
		{[]float64{1.2, 1.1, 1.3}, "", Met},
		{[]float64{1.25}, "", Met},
		{[]float64{1.3, 1.4, 1.5}, "", WithinNoise},
		{[]float64{1.5, 1.55, 1.6}, "", Missed},
		{[]float64{1.5, 1.55, 1.6}, "the floor alone takes 7.0 ns", FloorExceeds},
		{[]float64{1.5}, "", Missed},
	} {
		one := Target{What: "Tape take", Unit: "x", Value: slices.Min(c.rounds), Rounds: c.rounds, Most: 1.25,
			Unreachable: c.unreachable}
		require.Equal(t, c.verdict, one.Verdict(), "%v", c.rounds)
		require.Contains(t, one.Detail(), c.unreachable)
	}
	failing := Target{What: "Tape take", Unit: "x", Value: 1.5, Rounds: []float64{1.5, 1.55, 1.6}, Most: 1.25}
	require.Equal(t, "Tape take: 1.50x, spread of 3 rounds 0.10x, target 1.25x; missed, as it may be on a busy machine",
		failing.Detail())
	slow := Target{What: "open", Unit: "ns", Value: 20e3, Rounds: []float64{20e3, 31e3}, Most: 25e3}
	require.Equal(t, "open: 20.0 us, spread of 2 rounds 11.0 us, target 25.0 us", slow.Detail())
	// A loaded machine slows the floor too: the ratio decides.
	good := Target{Unit: "x", Value: 1.2, Rounds: []float64{1.2, 1.3}, Most: 1.25}
	slow.Value, slow.Rounds, slow.Ratio = 50e3, []float64{50e3, 51e3}, &good
	require.Equal(t, RatioMet, slow.Verdict())
	require.Equal(t, "open: 50.0 us, spread of 2 rounds 1.0 us, target 25.0 us; the ratio to the floor of the same "+
		"rounds, 1.20x, meets its target 1.25x", slow.Detail())
	slow.Ratio = &failing
	require.Equal(t, Missed, slow.Verdict())
	require.Equal(t, Missed, worse(WithinNoise, Missed))
	require.Equal(t, FloorExceeds, worse(FloorExceeds, Met))
	require.Equal(t, Met, worse(Met, Met))
}
