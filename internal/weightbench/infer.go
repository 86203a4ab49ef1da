package weightbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/weights"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Inferred is a row of the second suite: a program that multiplies by every tensor of a file.
type Inferred struct {
	Way      string  `json:"way"` // map or read
	Bytes    int64   `json:"bytes"`
	Load     Seconds `json:"load_ns"`
	First    Seconds `json:"first_ns"`     // the first evaluation of a prompt
	Prompt   float64 `json:"prompt_per_s"` // tokens a second, later evaluations
	Generate float64 `json:"generate_per_s"`
	Moved    int64   `json:"moved_bytes"` // copied on the way to the engine
	Own      int64   `json:"own_bytes"`   // memory of the process, beside mapped files; 0 for unknown
	Files    int64   `json:"file_bytes"`  // of mapped files
}

const (
	promptTokens = 34 // as in the paper
	layers       = 32 // of the program, at most: as many as a file of 64 MiB has
)

// chained is a program that multiplies x by the layers one after the other.
func chained(tokens, n int) (*build.Program, error) {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, tokens, 1024)
	for i := range n {
		x = f.Matmul(x, f.Input(fmt.Sprintf("layer_%d", i), build.FP16, 1024, 1024))
	}
	f.Output("y", x)
	return b.Program()
}

// Infer measures load and evaluations with the weights of path as inputs, on a device of the software
// engine with offsets. way is Map or Read.
func Infer(ctx context.Context, d *ane.Device, path, way string, rounds int) (row Inferred, err error) {
	row = Inferred{Way: way}
	own, files := procmem.Resident()
	start := time.Now()
	var tape *unimem.Tape
	if way == Read {
		info, err := os.Stat(path)
		if err != nil {
			return row, err
		}
		if tape, err = unimem.Start(int(info.Size())+1<<20, unimem.Warm()); err != nil {
			return row, err
		}
	}
	defer func() { err = errors.Join(err, tape.Close()) }() // nil for a map
	f, err := open(ctx, path, way, tape)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n := min(len(f.Names()), layers)
	row.Load, row.Bytes = Seconds(time.Since(start).Seconds()), int64(n)*tensorBytes
	for _, tokens := range []int{promptTokens, 1} {
		if err := row.evaluate(ctx, d, f, tokens, n, rounds); err != nil {
			return row, err
		}
	}
	row.Own, row.Files = max(row.Own-own, 0), max(row.Files-files, 0)
	return row, nil
}

// evaluate measures a program of some tokens.
func (row *Inferred) evaluate(ctx context.Context, d *ane.Device, f *safetensors.File, tokens, n,
	rounds int) (err error) {
	p, err := chained(tokens, n)
	if err != nil {
		return err
	}
	m, err := d.Compile(ctx, ane.Source{Program: p})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	r, err := weights.Request(ctx, d, m, f, func(input string) string {
		var i int
		if _, err := fmt.Sscanf(input, "layer_%d", &i); err != nil {
			return ""
		}
		return fmt.Sprintf("layer.%d", i)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	row.Moved += r.Moved()
	once := func() error {
		_, err := r.Evaluate(ctx)
		return err
	}
	first, err := measure.Best(ctx, 1, once)
	if err != nil {
		return err
	}
	best, err := measure.Best(ctx, rounds, once)
	if err != nil {
		return err
	}
	row.Own, row.Files = procmem.Resident()
	if rate := float64(tokens) / best.Seconds(); tokens > 1 {
		row.First, row.Prompt = Seconds(first.Seconds()), rate
	} else {
		row.Generate = rate
	}
	return nil
}
