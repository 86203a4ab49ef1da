package resources

import (
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/stretchr/testify/require"
)

// Weights that the reader of weight files has something to say about are read by it.
func TestWeightsThatAreNotLent(t *testing.T) {
	var w blob.Writer
	_, err := w.Add(mil.FP16, make([]byte, 2<<20), 0)
	require.NoError(t, err)
	file := w.Bytes()
	s := Source{weights: []weight{{"@model_path/w.bin", file}}}
	lend := func(at int) *Upload {
		return &Upload{Source: s, parts: []extent{{at: at, size: len(file)}}}
	}
	whole := mil.TensorOf(mil.FP16, 1, 1024, 1, 1024)
	data, err := lend(4096).Constant("@model_path/w.bin", blob.First, whole)
	require.NoError(t, err)
	require.Len(t, data, 2<<20)
	for name, ask := range map[string]func() ([]byte, error){
		"another file":   func() ([]byte, error) { return lend(0).Constant("x", blob.First, whole) },
		"another offset": func() ([]byte, error) { return lend(0).Constant("@model_path/w.bin", 0, whole) },
		"another type": func() ([]byte, error) {
			return lend(0).Constant("@model_path/w.bin", blob.First, mil.TensorOf(mil.FP32, 1, 1024, 1, 1024))
		},
		"not aligned": func() ([]byte, error) { return lend(2).Constant("@model_path/w.bin", blob.First, whole) },
		"a warning": func() ([]byte, error) {
			file[blob.First+40] = 1 // the metadata ends with zeros
			return lend(0).Constant("@model_path/w.bin", blob.First, whole)
		},
	} {
		_, err := ask()
		require.Error(t, err, name)
		file[blob.First+40] = 0
	}
	s = Source{} // the upload was closed
	_, err = lend(0).Constant("@model_path/w.bin", blob.First, whole)
	require.Error(t, err)
}

func TestLowered(t *testing.T) {
	for _, one := range []struct {
		args      wire.Arguments
		weights   uint64
		qos, want uint32
	}{
		{wire.Arguments{}, 0, driverabi.QoSRealTime, driverabi.QoSRealTime},
		{wire.Arguments{PowerSaving: true}, 0, driverabi.QoSRealTime, driverabi.QoSUserInteractive},
		{wire.Arguments{PowerSaving: true}, 0, driverabi.QoSUtility, driverabi.QoSBackground},
		{wire.Arguments{Aggressive: true}, 0, driverabi.QoSRealTime, driverabi.QoSBackground},
		{wire.Arguments{PowerSaving: true, Aggressive: true}, 0, driverabi.QoSDefault, driverabi.QoSBackground},
		// the driver lowers it
		{wire.Arguments{Aggressive: true}, 1, driverabi.QoSDefault, driverabi.QoSDefault},
	} {
		p := Program{args: one.args, weights: one.weights}
		require.Equal(t, one.want, p.Lowered(one.qos), "%+v", one)
	}
}
