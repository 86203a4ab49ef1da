package weightbench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/weights"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
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
	err = step.Run(ctx, func(t *step.T) {
		own, files := procmem.Resident()
		start := time.Now()
		var tape *unimem.Tape
		if way == Read {
			tape, _ = tapeOf(t, path)
		}
		f := ways()[slices.Index(Ways(), way)].load(t, path, tape)
		t.Closing(f.Close)
		n := min(len(f.Names()), layers)
		row = Inferred{Way: way, Load: time.Since(start), Bytes: int64(n) * tensorBytes}
		first, prompt := row.evaluate(t, d, f, promptTokens, n, rounds)
		_, one := row.evaluate(t, d, f, 1, n, rounds)
		row.First, row.Prompt, row.Generate = first, promptTokens/prompt.Seconds(), 1/one.Seconds()
		row.Own, row.Files = max(row.Own-own, 0), max(row.Files-files, 0)
	})
	return row, err
}

// evaluate measures a program that multiplies some tokens by n layers, one after the other.
func (row *Inferred) evaluate(t *step.T, d *ane.Device, f *safetensors.File, tokens, n, rounds int) (first,
	best time.Duration) {
	b := build.New()
	main := b.Func("main")
	x := main.Input("x", build.FP16, tokens, 1024)
	for i := range n {
		x = main.Matmul(x, main.Input(fmt.Sprintf("layer_%d", i), build.FP16, 1024, 1024))
	}
	main.Output("y", x)
	step.NoError(step.Run(t.Ctx, func(t *step.T) {
		m := step.Must(d.Compile(t.Ctx, ane.Source{Program: step.Must(b.Program())}))
		t.Later(m.Close)
		r := step.Must(weights.Request(t.Ctx, d, m, f, nil))
		t.Closing(r.Close)
		row.Moved += r.Moved()
		times := step.Must(measure.Turns(t.Ctx, 1+rounds, func(func()) error {
			_, err := r.Evaluate(t.Ctx)
			return err
		}))[0]
		first, best = time.Duration(times[:1].Best(0)), time.Duration(times[1:].Best(0))
		row.Own, row.Files = procmem.Resident()
	}))
	return first, best
}
