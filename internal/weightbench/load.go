// Package weightbench repeats the three suites of the OptMLX paper (AtomGradient, 2026) on models of random weights in
// the shapes of Qwen3, which it makes. The suites measure how long weights take to load, how the way of loading affects
// a decoder, and what memory reserved for keys and values costs it. A fourth table has the evidence by which
// safetensors.Auto decides. Published has the paper's tables, measured with MLX on an M4 Max; the figures of this
// machine are comparable in their shape only.
package weightbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Ways of loading that others are compared with.
const (
	Map   = "map"   // open alone: headers are read, nothing else
	Touch = "touch" // map, then read every page
	Read  = "read"  // one goroutine, through the page cache
)

// way is a way of loading a file. The memory of a tape is for what is not mapped.
type way struct {
	name string
	load func(t *step.T, path string, tape *unimem.Tape) *safetensors.File
}

// ways lists them in the order of the tables.
func ways() []way {
	reads := func(name string, opts ...safetensors.Option) way {
		return way{name, func(t *step.T, path string, tape *unimem.Tape) *safetensors.File {
			return step.Must(safetensors.Load(t.Ctx, path, tape, opts...))
		}}
	}
	mapped := func(_ *step.T, path string, _ *unimem.Tape) *safetensors.File {
		return step.Must(safetensors.Open(path))
	}
	return []way{
		{Map, mapped},
		{Touch, func(t *step.T, path string, _ *unimem.Tape) *safetensors.File {
			f := mapped(t, path, nil)
			step.NoError(f.Check(t.Ctx, nil))
			return f
		}},
		reads(Read, safetensors.Buffered(), safetensors.Workers(1)),
		reads("parallel", safetensors.Buffered()), // several goroutines, through the page cache
		reads("direct"),                   // several goroutines, past the page cache
		reads("ring", safetensors.Ring()), // io_uring, past the page cache; as direct where there is none
		{"auto", func(t *step.T, path string, tape *unimem.Tape) *safetensors.File { // then every page is read
			f := step.Must(safetensors.Load(t.Ctx, path, tape, safetensors.Auto()))
			step.NoError(f.Check(t.Ctx, nil))
			return f
		}},
	}
}

// Ways lists the names of the ways of loading, in the order of the tables.
func Ways() (all []string) {
	for _, w := range ways() {
		all = append(all, w.name)
	}
	return all
}

// Loaded is a row of the first suite: the best of the rounds.
type Loaded struct {
	Model
	Bytes  int64                    `json:"bytes"`
	Cold   bool                     `json:"cold"`     // the page cache had been told to drop the file
	Times  map[string]time.Duration `json:"times_ns"` // by way
	Direct bool                     `json:"direct"`   // the file system permits direct I/O
	Ringed bool                     `json:"ringed"`   // the system permits io_uring
	Why    string                   `json:"why"`      // of Auto
}

// tensorBytes is the length of a tensor of the files: 1024 x 1024 halves.
const tensorBytes = 2 << 20

// Make writes a file of about size bytes, tensors layer_0 and so on of 1024 x 1024 small halves, each
// at a multiple of 16 KiB.
func Make(path string, size int64) error {
	return step.Catch(func() {
		n := max(int(size/tensorBytes), 1)
		w := step.Must(safetensors.Create(path, map[string]string{"format": "anekit"},
			safetensors.Align(unimem.PageSize), safetensors.Expect(n)))
		defer w.Abort()
		r, data := rand.NewChaCha8([32]byte{1}), make([]byte, tensorBytes)
		for i := range n {
			_, _ = r.Read(data)                 // it does not fail
			for j := 1; j < len(data); j += 2 { // halves of magnitude 2^-8 to 2^-7
				data[j] = 0x1c | data[j]&0x83
			}
			step.NoError(w.Add(fmt.Sprintf("layer_%d", i), safetensors.F16, []int{1024, 1024}, data))
		}
		step.NoError(w.Close())
	})
}

// Load measures the ways of loading the file of a model. It returns errors.ErrUnsupported for a cold one where the page cache
// cannot be told to drop it.
func Load(ctx context.Context, path string, m Model, cold bool, rounds int) (l Loaded, err error) {
	l.Model = m
	err = step.Run(ctx, func(t *step.T) {
		var tape *unimem.Tape
		tape, l.Bytes = tapeOf(t, path)
		l.Cold, l.Times = cold, map[string]time.Duration{}
		var sides []measure.Side
		for _, w := range ways() {
			sides = append(sides, func(lap func()) error {
				return step.Run(ctx, func(t *step.T) {
					if cold {
						step.NoError(drop(path))
					}
					tape.Clear()
					lap()
					f := w.load(t, path, tape)
					lap()
					t.Closing(f.Close)
					report := f.Report()
					l.Direct = l.Direct || report.Access == safetensors.Direct
					l.Ringed = l.Ringed || report.Ringed > 0
					if w.name == "auto" {
						l.Why = report.Why
					}
				})
			})
		}
		for i, times := range step.Must(measure.Turns(ctx, rounds, sides...)) {
			l.Times[Ways()[i]] = time.Duration(times.Best(1))
		}
	})
	return l, err
}

// tapeOf starts a warm Tape for a file, and returns the file's size.
func tapeOf(t *step.T, path string) (*unimem.Tape, int64) {
	info := step.Must(os.Stat(path))
	tape := step.Must(unimem.Start(int(info.Size())+1<<20, unimem.Warm()))
	t.Closing(tape.Close)
	return tape, info.Size()
}

// Limit is the size of the largest file to make in a folder: at most, and at most a quarter of the folder's free space
// and of the available memory.
func Limit(dir string, most int64, memory uint64) int64 {
	return min(most, free(dir)/4, int64(memory/4))
}

// Sizes returns sizes of files from 64 MiB to a limit, each four times the one before.
func Sizes(limit int64) (all []int64) {
	for n := int64(64 << 20); n <= limit; n *= 4 {
		all = append(all, n)
	}
	return all
}

// guess is a folder's free space where it is unknown.
const guess = 4 << 30
