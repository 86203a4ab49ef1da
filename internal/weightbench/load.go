package weightbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Ways of loading.
const (
	Map      = "map"      // open alone: headers are read, nothing else
	Touch    = "touch"    // map, then read every page
	Read     = "read"     // one goroutine, through the page cache
	Parallel = "parallel" // several goroutines, through the page cache
	Direct   = "direct"   // several goroutines, past the page cache
	Ring     = "ring"     // io_uring, past the page cache; as direct where there is none
)

// Ways lists them in the order of the tables.
func Ways() []string { return []string{Map, Touch, Read, Parallel, Direct, Ring} }

// Loaded is a row of the first suite: the best of the rounds.
type Loaded struct {
	Bytes  int64              `json:"bytes"`
	Cold   bool               `json:"cold"` // the page cache had been told to drop the file
	Times  map[string]Seconds `json:"times_ns"`
	Direct bool               `json:"direct"` // the file system permits direct I/O
	Ringed bool               `json:"ringed"` // the system permits io_uring
}

// tensorBytes is the length of a tensor of the files: 1024 x 1024 halves.
const tensorBytes = 2 << 20

// Make writes a file of about size bytes, tensors layer.0 and so on of 1024 x 1024 small halves, each
// at a multiple of 16 KiB.
func Make(path string, size int64) error {
	n := max(int(size/tensorBytes), 1)
	w, err := safetensors.Create(path, map[string]string{"format": "anekit"}, safetensors.Align(unimem.PageSize),
		safetensors.Expect(n))
	if err != nil {
		return err
	}
	defer w.Abort()
	r, data := rand.New(rand.NewPCG(1, uint64(size))), make([]byte, tensorBytes)
	for i := range n {
		for j := 0; j < len(data); j += 8 {
			v := r.Uint64()
			for k := range 4 { // halves of magnitude 2^-8 to 2^-7
				data[j+2*k], data[j+2*k+1] = byte(v>>(16*k)), 0x1c|byte(v>>(16*k+8))&0x83
			}
		}
		if err := w.Add(fmt.Sprintf("layer.%d", i), safetensors.F16, []int{1024, 1024}, data); err != nil {
			return err
		}
	}
	return w.Close()
}

// Load measures the ways of loading one file.
func Load(ctx context.Context, path string, cold bool, rounds int) (l Loaded, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return l, err
	}
	l = Loaded{Bytes: info.Size(), Cold: cold, Times: map[string]Seconds{}}
	tape, err := unimem.Start(int(info.Size())+1<<20, unimem.Warm())
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, tape.Close()) }()
	var sides []measure.Side
	for _, way := range Ways() {
		sides = append(sides, func(w *measure.Watch) error {
			if cold {
				if err := drop(path); err != nil {
					return err
				}
			}
			tape.Clear()
			w.Lap()
			f, err := open(ctx, path, way, tape)
			if err != nil {
				return err
			}
			w.Lap()
			report := f.Report()
			l.Direct = l.Direct || report.How == safetensors.Direct
			l.Ringed = l.Ringed || report.Ringed > 0
			return f.Close()
		})
	}
	all, err := measure.Turns(ctx, rounds, sides...)
	for i, t := range all {
		l.Times[Ways()[i]] = Seconds(t.Best(1) / 1e9)
	}
	return l, err
}

// open loads a file in one way.
func open(ctx context.Context, path, way string, tape *unimem.Tape) (*safetensors.File, error) {
	switch way {
	case Map:
		return safetensors.Open(path)
	case Touch:
		f, err := safetensors.Open(path)
		if err == nil {
			if err = f.Check(ctx, nil); err != nil {
				err = errors.Join(err, f.Close())
			}
		}
		return f, err
	case Read:
		return safetensors.Load(ctx, path, tape, safetensors.Buffered(), safetensors.Workers(1))
	case Parallel:
		return safetensors.Load(ctx, path, tape, safetensors.Buffered())
	case Ring:
		return safetensors.Load(ctx, path, tape, safetensors.Ring())
	}
	return safetensors.Load(ctx, path, tape)
}

// guess is a folder's free space where it is unknown.
const guess = 4 << 30

// Sizes returns the sizes of files to make in a folder, from 64 MiB doubling to most bytes, as far as
// half of its free space and of the memory that is available permit.
func Sizes(dir string, most int64, memory uint64) []int64 {
	limit := min(most, free(filepath.Clean(dir))/2, int64(memory/2))
	var all []int64
	for n := int64(64 << 20); n <= limit; n *= 2 {
		all = append(all, n)
	}
	return all
}
