//go:build !macrules

package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/models"
)

// TestModelsMeetTheirReference runs every ready program over the wire and compares it
// with its own arithmetic.
func TestModelsMeetTheirReference(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	all, err := models.All()
	require.NoError(t, err)
	for _, m := range all {
		r, err := p.ready(m, driverabi.QoSDefault)
		require.NoError(t, err, m.Name)
		in := map[string][]float64{}
		for _, x := range r.in {
			l := x.Layout()
			in[l.Name] = m.Input(l.Name, l.Elements(), 7)
			values := make([]float32, l.Elements())
			for i, v := range in[l.Name] {
				values[i] = float32(v)
			}
			_, err := x.WriteFloat32(values)
			require.NoError(t, err)
		}
		want := m.Reference(in)
		for range 3 { // queued first, then run by the reader
			require.NoError(t, p.evaluate(r, 0), m.Name)
			for _, y := range r.out {
				l := y.Layout()
				got := make([]float32, l.Elements())
				_, err := y.ReadFloat32(got)
				require.NoError(t, err)
				for i, v := range want[l.Name] {
					require.True(t, m.Tolerance.Allows(float64(got[i]), v), "%s %s %d: %v, want %v", m.Name, l.Name, i,
						got[i], v)
				}
			}
			for _, y := range r.out {
				clear(y.Bytes())
			}
		}
	}
}

// TestEvaluateAllocatesLittle counts both ends: a frame that is received from a socket costs the address of its sender.
func TestEvaluateAllocatesLittle(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	r, err := p.ready(model(t, "identity"), driverabi.QoSDefault)
	require.NoError(t, err)
	ping := newRawEvaluate(p, r)
	for range 100 {
		require.NoError(t, ping())
	}
	var failed error
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		if err := ping(); err != nil {
			failed = err
		}
	}), 2.0)
	require.NoError(t, failed)
}
