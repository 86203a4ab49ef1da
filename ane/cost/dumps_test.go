package cost

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/dumptest"
)

// An A18 Pro has the engine of its generation, M4 and M5: a call takes as long as on one of them, and a chain that reads
// its weights is no faster than what they stream.
func TestDumpOfTimes(t *testing.T) {
	var d struct {
		Floor float64            `json:"floor_us"`
		Times map[string]float64 `json:"us_per_eval"`
		Head  struct {
			Ms   float64
			GBps float64
			MB   float64 `json:"weights_MB"`
		} `json:"large_head"`
	}
	dumptest.Data(t, "a18pro-27.0.1-timings", &d)
	four, five := chip.M4.Spec(), chip.M5.Spec()
	overhead := chip.Span{Low: min(four.CallOverhead.Value.Low, five.CallOverhead.Value.Low),
		High: max(four.CallOverhead.Value.High, five.CallOverhead.Value.High)}
	require.GreaterOrEqual(t, d.Floor, overhead.Low)
	require.LessOrEqual(t, d.Floor, overhead.High)
	require.InDelta(t, d.Head.GBps, d.Head.MB/d.Head.Ms, 0.5)
	require.LessOrEqual(t, d.Head.GBps, four.WeightRate.Value.High)

	// 4096 x 4096: the estimate for M4, which streams faster, is below the measured time, and above its floor.
	e := of(t, chain(t, 1, 4096, 1, 128, 1, 1, false), Options{Chip: chip.M4})
	require.Less(t, e.Call.Value, d.Times["4096"])
	require.Greater(t, e.Call.Value, d.Floor)
	require.Greater(t, e.Call.Value, of(t, chain(t, 1, 512, 1, 128, 1, 1, false), Options{Chip: chip.M4}).Call.Value)
}

// No machine is faster than the peak of its generation here.
func TestDumpsOfRates(t *testing.T) {
	var ultra struct {
		Linear map[string]float64 `json:"linear_TFLOPs_per_engine"`
		Two    []float64          `json:"two_engines_TFLOPs"`
		Length map[string]float64 `json:"sequence_TFLOPs"`
	}
	dumptest.Data(t, "m3ultra-shape-cliffs", &ultra)
	rate := anchors[chip.M3].flops / 1e6
	require.Len(t, ultra.Linear, 3)
	for what, v := range ultra.Linear {
		require.Less(t, v, rate, what)
	}
	for _, v := range ultra.Two {
		require.Less(t, v, 2*rate)
	}
	// What the estimate does not know: 13 elements less take four times as long. The estimate is the better of the two.
	require.Less(t, ultra.Length["15731"], ultra.Length["15744"]/4)
	require.Less(t, ultra.Length["15744"], rate)

	var max5 struct {
		TFLOPs struct{ Peak float64 }
		GBps   struct{ Weights float64 }
	}
	dumptest.Data(t, "m5max-27-operators", &max5)
	five := chip.M5.Spec()
	require.InEpsilon(t, max5.TFLOPs.Peak, five.Peak.Value.High, 0.05)
	require.InEpsilon(t, max5.GBps.Weights, five.WeightRate.Value.High, 0.05)
	var chain struct {
		Peak struct{ TFLOPs []float64 } `json:"inmem_peak"`
	}
	dumptest.Data(t, "m5max-27.0-maderix-tests", &chain)
	require.Len(t, chain.Peak.TFLOPs, 2)
	require.Less(t, chain.Peak.TFLOPs[1], five.Peak.Value.High)
	require.Greater(t, chain.Peak.TFLOPs[0], anchors[chip.M5].flops/1e6, "the anchor is not optimistic")
}
