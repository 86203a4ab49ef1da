package gpu

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

const (
	weightsSide = 2048 // width and height of the matrix in the file
	weightsRows = 2    // that a kernel multiplies with it
)

func weightAt(i int) float32 { return float32(i%13 - 6) }

// writeWeights writes a safetensors file with the tensor w.
func writeWeights(path string) {
	f := trial.Must(safetensors.Create(path, nil))
	defer f.Abort()
	data := make([]byte, 4*weightsSide*weightsSide)
	for i, w := 0, trial.Must(unimem.View[float32](data)); i < len(w); i++ {
		w[i] = weightAt(i)
	}
	trial.NoError(f.Add("w", safetensors.F32, []int{weightsSide, weightsSide}, data))
	trial.NoError(f.Close())
}

// weights multiplies with a tensor of a mapped safetensors file where the file lies. The memory of this process grows
// by less than 1 % of the file, which stays as it was.
func (c *checks) weights(t *trial.T) {
	dir := trial.Must(os.MkdirTemp("", "ane-roundtrip-"))
	t.Closing(func() error { return os.RemoveAll(dir) })
	path := filepath.Join(dir, "w.safetensors")
	writeWeights(path)
	before := trial.Must(os.ReadFile(path))
	f := trial.Must(safetensors.Open(path))
	t.Closing(f.Close)
	b, offset, err := trial.Must(f.Tensor("w")).Block()
	trial.NoError(err)
	same := bytes.Equal(before, b.Bytes()) // all pages of the file count for this process from here on
	before = nil
	const part = 4 * weightsRows * weightsSide
	own := c.open(t, 2*part)
	all := trial.Must(unimem.View[float32](own.Bytes()[:2*part]))
	x, y := all[:part/4], all[part/4:]
	for i := range x {
		x[i] = float32(i%7 - 3)
	}
	multiply := func() int64 {
		var grown int64
		t.Scope(func(once *trial.T) {
			grown = trial.Meter(trial.OwnMemory).Growing(func() {
				m := trial.Must(c.device.Load(t.Ctx, b))
				once.Closing(m.Close)
				trial.NoError(run(t.Ctx, c.device, Work{Memory: own.memory, Weights: m, Offset: offset, Rows: weightsRows,
					Side: weightsSide}))
				debug.FreeOSMemory()
			})
		})
		return grown
	}
	for i := range y {
		y[i] = float32(math.NaN())
	}
	multiply() // the driver compiles the kernel
	wrong := 0
	for i := range y {
		want := float32(0)
		for k := range weightsSide {
			want += x[i/weightsSide*weightsSide+k] * weightAt(i%weightsSide*weightsSide+k)
		}
		if y[i] != want {
			wrong++
		}
	}
	limit := int64(b.Size() / 100)
	grown := trial.Repeated(40, -limit, limit-1, multiply)
	changed := "is as it was"
	if again := trial.Must(os.ReadFile(path)); !same || !bytes.Equal(again, b.Bytes()) || wrongWeights(again, offset) {
		changed = "has CHANGED"
	}
	t.Add(trial.Judge(weights, wrong == 0 && changed == "is as it was", float64(wrong), "elements",
		"product with a tensor of a mapped safetensors file: %d of %d elements are wrong, the file %s", wrong, len(y),
		changed).Against(trial.AtMost(0)))
	switch copied := c.device.Copied(); {
	case copied > 0:
		t.Add(trial.Skipped(mapping, "this driver imports only memory that it may write to: Load has copied %d bytes of the file",
			copied))
	case host.Mac:
		t.Add(trial.Skipped(mapping, "memory of this GPU does not count for the process, so a copy would not show"))
	default:
		t.Add(trial.Compare(mapping, float64(grown), "bytes", trial.AtMost(float64(limit-1)),
			"memory of this process changed by %s while a kernel read all of a mapped file of %s",
			fmt.Sprintf("%.2f MB", float64(grown)/1e6), fmt.Sprintf("%.2f MB", float64(b.Size())/1e6)))
	}
}

// wrongWeights reports whether the tensor of a file is not the one that was written.
func wrongWeights(file []byte, offset int) bool {
	for i, w := 0, trial.Must(unimem.View[float32](file[offset:])); i < len(w); i++ {
		if w[i] != weightAt(i) {
			return true
		}
	}
	return false
}
