package server

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/models"
)

// wide returns a program that adds 1,048,576 numbers of a weight file to its input, and the file.
func wide(t *testing.T, value float32) models.Model {
	data := make([]byte, 2<<20)
	for i := 0; i < len(data); i += 2 {
		binary.LittleEndian.PutUint16(data[i:], uint16(fp16.FromFloat32(value)))
	}
	var w blob.Writer
	_, err := w.Add(mil.FP16, data, 0)
	require.NoError(t, err)
	text := []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [1, 1024, 1, 1024]> x) {
tensor<fp16, [1, 1024, 1, 1024]> w = const()[val = tensor<fp16, [1, 1024, 1, 1024]>(BLOBFILE(` +
		`path = string("@model_path/w.bin"), offset = uint64(64)))];
tensor<fp16, [1, 1024, 1, 1024]> y = add(x = x, y = w);
} -> (y);
}
`)
	for len(text)%64 > 0 { // the file follows it, aligned
		text = append(text, '\n')
	}
	return models.Model{Name: "wide", Text: text, Weights: map[string][]byte{"@model_path/w.bin": w.Bytes()}}
}

// Large weights are computed with where the client has put them. The files that hold them are charged until the
// program is released, those of a base and of its instances each for itself.
func TestLargeWeightsStayWhereTheyAre(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, driverabi.Restricted)
	first := func(r *run) float32 {
		require.NoError(t, p.evaluate(r, 0))
		return fp16.Bits(binary.LittleEndian.Uint16(r.out[0].Bytes())).Float32()
	}
	base, err := p.ready(wide(t, 2), 21)
	require.NoError(t, err)
	require.Equal(t, float32(2), first(base))
	of := func() *resident {
		b.live.mu.Lock()
		defer b.live.mu.Unlock()
		for _, r := range b.live.open {
			return r
		}
		return nil
	}()
	<-of.ready // what the compile wrote is seen from here on
	require.Positive(t, of.files.mappings)
	before := p.counter(t, "own descriptors")

	c, err := p.adapt(base.program, wide(t, 3).Weights, wire.Arguments{})
	require.NoError(t, err)
	require.NoError(t, p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &wire.Loaded{}))
	own, err := p.tie(c)
	require.NoError(t, err)
	require.Equal(t, float32(3), first(own))
	require.Equal(t, float32(2), first(base))
	require.Greater(t, p.counter(t, "own descriptors"), before)
}

// Weights that the reader of weight files has something to say about are read by it.
func TestWeightsThatAreNotLent(t *testing.T) {
	m := wide(t, 2)
	file := m.Weights["@model_path/w.bin"]
	s := source{weights: []weight{{"@model_path/w.bin", file}}}
	lend := func(at int) lent { return lent{&s, []extent{{at: at, size: len(file)}}, newMemfds()} }
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
	s = source{} // the upload was closed
	_, err = lend(0).Constant("@model_path/w.bin", blob.First, whole)
	require.Error(t, err)
}
