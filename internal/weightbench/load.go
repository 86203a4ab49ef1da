// Package weightbench repeats the three suites of the OptMLX paper (AtomGradient, 2026) on files that it
// makes: how long weights take to load, what the way of loading does to evaluations, and what
// memory reserved for keys and values costs. Published has the paper's tables, measured with MLX on an M4
// Max; the figures of this machine are comparable in their shape only.
package weightbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/anekit/anekit/internal/measure"
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
	load func(ctx context.Context, path string, tape *unimem.Tape) (*safetensors.File, error)
}

// ways lists them in the order of the tables.
func ways() []way {
	reads := func(name string, opts ...safetensors.Option) way {
		return way{name, func(ctx context.Context, path string, tape *unimem.Tape) (*safetensors.File, error) {
			return safetensors.Load(ctx, path, tape, opts...)
		}}
	}
	return []way{
		{Map, func(_ context.Context, path string, _ *unimem.Tape) (*safetensors.File, error) {
			return safetensors.Open(path)
		}},
		{Touch, func(ctx context.Context, path string, _ *unimem.Tape) (*safetensors.File, error) {
			f, err := safetensors.Open(path)
			if err == nil {
				if err = f.Check(ctx, nil); err != nil {
					err = errors.Join(err, f.Close())
				}
			}
			return f, err
		}},
		reads(Read, safetensors.Buffered(), safetensors.Workers(1)),
		reads("parallel", safetensors.Buffered()), // several goroutines, through the page cache
		reads("direct"),                   // several goroutines, past the page cache
		reads("ring", safetensors.Ring()), // io_uring, past the page cache; as direct where there is none
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
	Bytes  int64                    `json:"bytes"`
	Cold   bool                     `json:"cold"`     // the page cache had been told to drop the file
	Times  map[string]time.Duration `json:"times_ns"` // by way
	Direct bool                     `json:"direct"`   // the file system permits direct I/O
	Ringed bool                     `json:"ringed"`   // the system permits io_uring
}

// tensorBytes is the length of a tensor of the files: 1024 x 1024 halves.
const tensorBytes = 2 << 20

// Make writes a file of about size bytes, tensors layer_0 and so on of 1024 x 1024 small halves, each
// at a multiple of 16 KiB.
func Make(path string, size int64) error {
	n := max(int(size/tensorBytes), 1)
	w, err := safetensors.Create(path, map[string]string{"format": "anekit"}, safetensors.Align(unimem.PageSize),
		safetensors.Expect(n))
	if err != nil {
		return err
	}
	defer w.Abort()
	r, data := rand.NewChaCha8([32]byte{1}), make([]byte, tensorBytes)
	for i := range n {
		_, _ = r.Read(data)                 // it does not fail
		for j := 1; j < len(data); j += 2 { // halves of magnitude 2^-8 to 2^-7
			data[j] = 0x1c | data[j]&0x83
		}
		if err := w.Add(fmt.Sprintf("layer_%d", i), safetensors.F16, []int{1024, 1024}, data); err != nil {
			return err
		}
	}
	return w.Close()
}

// Load measures the ways of loading one file. It returns errors.ErrUnsupported for a cold one where the page cache
// cannot be told to drop it.
func Load(ctx context.Context, path string, cold bool, rounds int) (l Loaded, err error) {
	tape, size, err := tapeOf(path)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, tape.Close()) }()
	l = Loaded{Bytes: size, Cold: cold, Times: map[string]time.Duration{}}
	var sides []measure.Side
	for _, w := range ways() {
		sides = append(sides, func(lap func()) error {
			if cold {
				if err := drop(path); err != nil {
					return err
				}
			}
			tape.Clear()
			lap()
			f, err := w.load(ctx, path, tape)
			if err != nil {
				return err
			}
			lap()
			report := f.Report()
			l.Direct = l.Direct || report.How == safetensors.Direct
			l.Ringed = l.Ringed || report.Ringed > 0
			return f.Close()
		})
	}
	all, err := measure.Turns(ctx, rounds, sides...)
	for i, t := range all {
		l.Times[Ways()[i]] = time.Duration(t.Best(1))
	}
	return l, err
}

// tapeOf starts a warm Tape for a file, and returns the file's size.
func tapeOf(path string) (*unimem.Tape, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	t, err := unimem.Start(int(info.Size())+1<<20, unimem.Warm())
	return t, info.Size(), err
}

// Sizes returns the sizes of files to make in a folder, from 64 MiB doubling to most bytes, as far as
// half of its free space and of the memory that is available permit.
func Sizes(dir string, most int64, memory uint64) (all []int64) {
	limit := min(most, free(dir)/2, int64(memory/2))
	for n := int64(64 << 20); n <= limit; n *= 2 {
		all = append(all, n)
	}
	return all
}

// guess is a folder's free space where it is unknown.
const guess = 4 << 30
