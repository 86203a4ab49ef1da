package weightbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	Way      string        `json:"way"` // map or read
	Bytes    int64         `json:"bytes"`
	Load     time.Duration `json:"load_ns"`
	First    time.Duration `json:"first_ns"`     // the first evaluation of a prompt
	Prompt   float64       `json:"prompt_per_s"` // tokens a second, later evaluations
	Generate float64       `json:"generate_per_s"`
	Moved    int64         `json:"moved_bytes"` // copied on the way to the engine
	Own      int64         `json:"own_bytes"`   // memory of the process, beside mapped files; 0 for unknown
	Files    int64         `json:"file_bytes"`  // of mapped files
}

const (
	promptTokens = 34 // as in the paper
	layers       = 32 // of the program, at most: as many as a file of 64 MiB has
)

// Infer measures load and evaluations with the weights of path as inputs, on a device of the software
// engine with offsets. way is Map or Read.
func Infer(ctx context.Context, d *ane.Device, path, way string, rounds int) (row Inferred, err error) {
	row = Inferred{Way: way}
	own, files := procmem.Resident()
	start := time.Now()
	var tape *unimem.Tape
	if way == Read {
		if tape, _, err = tapeOf(path); err != nil {
			return row, err
		}
	}
	defer func() { err = errors.Join(err, tape.Close()) }() // nil for a map
	f, err := ways()[slices.Index(Ways(), way)].load(ctx, path, tape)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n := min(len(f.Names()), layers)
	row.Load, row.Bytes = time.Since(start), int64(n)*tensorBytes
	for _, tokens := range []int{promptTokens, 1} {
		if err := row.evaluate(ctx, d, f, tokens, n, rounds); err != nil {
			return row, err
		}
	}
	row.Own, row.Files = max(row.Own-own, 0), max(row.Files-files, 0)
	return row, nil
}

// evaluate measures a program that multiplies some tokens by n layers, one after the other.
func (row *Inferred) evaluate(ctx context.Context, d *ane.Device, f *safetensors.File, tokens, n,
	rounds int) (err error) {
	b := build.New()
	main := b.Func("main")
	x := main.Input("x", build.FP16, tokens, 1024)
	for i := range n {
		x = main.Matmul(x, main.Input(fmt.Sprintf("layer_%d", i), build.FP16, 1024, 1024))
	}
	main.Output("y", x)
	p, err := b.Program()
	if err != nil {
		return err
	}
	m, err := d.Compile(ctx, ane.Source{Program: p})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	r, err := weights.Request(ctx, d, m, f, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	row.Moved += r.Moved()
	t, err := measure.Turns(ctx, 1+rounds, func(func()) error {
		_, err := r.Evaluate(ctx)
		return err
	})
	if err != nil {
		return err
	}
	row.Own, row.Files = procmem.Resident()
	if rate := 1e9 * float64(tokens) / t[0][1:].Best(0); tokens > 1 {
		row.First, row.Prompt = time.Duration(t[0][:1].Best(0)), rate
	} else {
		row.Generate = rate
	}
	return nil
}
