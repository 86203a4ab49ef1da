package main

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/models"
)

// photograph writes a PNG that hardly compresses. Each pixel has the opacity that opacity returns.
func photograph(t testing.TB, dir string, side int, opacity func(*rand.Rand) uint8) (file string) {
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		if i%4 == 3 {
			m.Pix[i] = opacity(random)
		} else {
			m.Pix[i] = uint8(i/4%side) + uint8(random.Uint32()%32)
		}
	}
	file = filepath.Join(dir, "in.png")
	f, err := os.Create(file)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(f, m))
	return file
}

// benchSide is the pixels of a side of the pictures of the benchmarks: 1024, with ANEKIT_FULL 8192.
func benchSide() int {
	if effort.Full() {
		return 8192
	}
	return 1024
}

// opaque and translucent are opacities of photograph.
func opaque(*rand.Rand) uint8 { return 0xff }

func translucent(random *rand.Rand) uint8 { return uint8(random.Uint32()) }

// benchmarkImage runs the whole command.
func benchmarkImage(b *testing.B, opacity func(*rand.Rand) uint8) {
	in := photograph(b, b.TempDir(), benchSide(), opacity)
	out := filepath.Join(b.TempDir(), "out.png")
	for b.Loop() {
		var stdout, errw bytes.Buffer
		args := []string{"image", "--engine", engine.Soft, "--filter", "blur", in, out}
		require.Equal(b, cli.CodePass, execute(b.Context(), args, &stdout, &errw), "%s", &errw)
	}
}

func BenchmarkImage(b *testing.B)        { benchmarkImage(b, opaque) }
func BenchmarkImageOpacity(b *testing.B) { benchmarkImage(b, translucent) }

// benchmarkImageFloor only decodes and encodes the same file and evaluates the same model.
func benchmarkImageFloor(b *testing.B, opacity func(*rand.Rand) uint8, channels int) {
	in := photograph(b, b.TempDir(), benchSide(), opacity)
	d, err := engine.Open(b.Context(), engine.Soft)
	require.NoError(b, err)
	defer d.Close()
	filter, _ := models.FilterByName("blur")
	for b.Loop() {
		text, err := os.ReadFile(in)
		require.NoError(b, err)
		m, err := png.Decode(bytes.NewReader(text))
		require.NoError(b, err)
		side, rows := m.Bounds().Dx(), 128
		model, err := filter.Model(channels, rows, side)
		require.NoError(b, err)
		require.NoError(b, step.Run(b.Context(), func(t *step.T) {
			rig := trial.NewRig(t, d, ane.Source{File: "floor.mil", Text: model.Text, Weights: model.Weights})
			for range side / rows {
				step.Must(rig.Model.Evaluate(t.Ctx, rig.Request))
			}
		}))
		out, err := os.Create(filepath.Join(b.TempDir(), "out.png"))
		require.NoError(b, err)
		require.NoError(b, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(out, m))
		require.NoError(b, out.Close())
	}
}

func BenchmarkImageFloor(b *testing.B)        { benchmarkImageFloor(b, opaque, 3) }
func BenchmarkImageOpacityFloor(b *testing.B) { benchmarkImageFloor(b, translucent, 4) }
