// Package decoderbench makes language models of random weights in the shapes of published ones. It measures package
// decoder with them: load, first token, rates, memory, and restoring a snapshot beside repeating the prefill. Seed has
// the published figures of Llama 3.2 1B on the GPU of an M1. Source: "Zero-Copy GPU Inference from WebAssembly on Apple
// Silicon", abacusnoir.com, 2026.
package decoderbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft/peak"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/models/decoder"
)

// Plan says what Measure measures.
type Plan struct {
	Dir     string // folder of the model, and of the snapshots
	Form    decoder.Form
	Steps   int   // tokens to generate
	Prompt  int   // tokens of the long prompt
	Restore []int // tokens of the conversations that are restored
	Rounds  int   // the best of them counts
}

// Result has what Measure found.
type Result struct {
	Load    time.Duration `json:"load_ns"`      // from the folder to a loaded model, its file in the page cache
	Short   time.Duration `json:"prefill_5_ns"` // a prompt of 5 tokens
	First   time.Duration `json:"first_token_ns"`
	Prompt  int           `json:"prompt_tokens"`
	Prefill time.Duration `json:"prompt_ns"`
	// PromptFloor is the time of as many products by the multiply-add loop of the software engine, on all processors.
	PromptFloor time.Duration `json:"prompt_floor_ns"`
	Step        time.Duration `json:"step_ns"`       // the median
	ReadFloor   time.Duration `json:"step_floor_ns"` // the median of reads of the weights between the steps
	Products    float64       `json:"prompt_products_per_s"`

	Weights Weights    `json:"weights"`
	Peak    int64      `json:"peak_bytes"` // peak resident bytes until the end of the first steps; 0 if not known
	Keys    []Resident `json:"kv"`

	Restores []Restored `json:"restore"`
}

// Weights is the memory of the weights in bytes.
type Weights struct {
	Stored    int64 `json:"stored_bytes"`
	Mapped    int64 `json:"mapped_bytes"`    // read where the file is mapped
	Converted int64 `json:"converted_bytes"` // in memory of their own
	Own       int64 `json:"own_bytes"`       // growth of the process by loading and a prompt, without mapped files
	Read      int64 `json:"read_bytes"`      // Own if the mapped weights had been read into memory of their own
	KV        int64 `json:"kv_bytes"`        // of Own: keys and values
}

// Restored compares a restored conversation with a repeated prompt.
type Restored struct {
	Tokens  int           `json:"tokens"`
	Bytes   int64         `json:"bytes"` // of the snapshot
	Prefill time.Duration `json:"prefill_ns"`
	Save    time.Duration `json:"save_ns"`
	Restore time.Duration `json:"restore_ns"`
	Same    bool          `json:"same"` // the next logits have the same bits
}

// Seed is the published figures, of Llama 3.2 1B in groups of 4 bits on the GPU of an M1.
type Seed struct {
	Load  time.Duration `json:"load_ns"`
	Short time.Duration `json:"prefill_5_ns"`
	Step  time.Duration `json:"step_ns"`

	Restored Restored `json:"restore"` // a conversation of 24 tokens
}

// Published returns the figures.
func Published() Seed {
	return Seed{Load: 229 * time.Millisecond, Short: 106 * time.Millisecond, Step: 9 * time.Millisecond,
		Restored: Restored{Tokens: 24, Bytes: 1580000, Prefill: 67700 * time.Microsecond, Save: 1100 * time.Microsecond,
			Restore: 1400 * time.Microsecond, Same: true}}
}

// bench measures a model.
type bench struct {
	Plan
	shape  Shape
	device *ane.Device
	folder *decoder.Folder
	now    func(string)
	found  Result
}

// Measure measures the model in p.Dir on d. It calls now with the name of each measurement.
func Measure(ctx context.Context, d *ane.Device, s Shape, p Plan, now func(string)) (r Result, err error) {
	err = step.Run(ctx, func(t *step.T) {
		f := step.Must(decoder.Open(p.Dir))
		t.Closing(f.Close)
		now("read the weights")
		step.Must(f.Fingerprint(ctx)) // it fills the page cache
		b := &bench{Plan: p, shape: s, device: d, folder: f, now: now}
		b.found = Result{Prompt: p.Prompt, Weights: Weights{Stored: f.Bytes()}, Restores: []Restored{}}
		step.NoError(step.Run(ctx, b.speed))
		c := f.Config()
		b.found.Keys = step.Must(Fill(ctx, c.Layers, c.KVHeads, c.HeadDim))
		for _, n := range p.Restore {
			now(fmt.Sprintf("restore %d tokens", n))
			step.NoError(step.Run(ctx, func(t *step.T) { b.restore(t, b.tokens(n+1)) }))
		}
		r = b.found
	})
	return r, err
}

// load loads the model with room for some tokens and begins a session.
func (b *bench) load(t *step.T, room int) (*decoder.Model, *decoder.Session) {
	m := step.Must(decoder.Load(t.Ctx, b.device, b.folder, decoder.WithForm(b.Form), decoder.Context(room)))
	t.Later(m.Close)
	s := step.Must(m.NewSession())
	t.Closing(s.Close)
	return m, s
}

// tokens returns n tokens of the vocabulary.
func (b *bench) tokens(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = (i*7919 + 13) % b.shape.Vocabulary
	}
	return all
}

// best is the shortest time of a call, whose errors end the step.
func best(t *step.T, rounds int, call func()) time.Duration {
	return step.Must(measure.Best(t.Ctx, rounds, func() error { return step.Catch(call) }))
}

// again is the prefill of a conversation that begins again.
func again(t *step.T, s *decoder.Session, prompt []int) {
	step.NoError(s.Truncate(0))
	step.NoError(s.Prefill(t.Ctx, prompt))
}

// speed measures load, prompts and steps, and their memory.
func (b *bench) speed(t *step.T) {
	r := &b.found
	b.now("load")
	before, _ := procmem.Resident()
	begin := time.Now()
	m, s := b.load(t, b.Prompt+1+b.Steps)
	r.Load = time.Since(begin)
	debug.FreeOSMemory() // the memory of making the model and compiling
	text := b.tokens(b.Prompt)
	short := text[:min(5, b.Prompt)]
	b.now("a prompt of 5 tokens")
	r.Short = best(t, b.Rounds, func() { again(t, s, short) })
	r.First = best(t, b.Rounds, func() {
		step.NoError(s.Truncate(0))
		step.Must(s.Answer(t.Ctx, &decoder.Snapshot{Prompt: short}, 1, nil))
	})
	b.now(fmt.Sprintf("a prompt of %d tokens", b.Prompt))
	b.prompt(t, s, text)
	b.now("steps")
	step.NoError(s.Step(t.Ctx, text[0]))
	r.Peak = procmem.Peak()
	own, _ := procmem.Resident()
	own, plan := max(0, own-before), m.Plan()
	r.Weights = Weights{Stored: r.Weights.Stored, Mapped: plan.WeightsMapped, Converted: plan.WeightsConverted,
		Own: own, Read: own + plan.WeightsMapped, KV: plan.CacheBytes}
	b.steps(t, s, text)
}

// prompt measures a prompt and its floor in turns. The floor has a part of the products.
func (b *bench) prompt(t *step.T, s *decoder.Session, text []int) {
	const most = 1 << 34
	products := b.shape.Products(b.Prompt)
	part := min(products, most)
	times := step.Must(measure.Turns(t.Ctx, b.Rounds,
		func(func()) error { return step.Catch(func() { again(t, s, text) }) },
		func(func()) error {
			peak.Share(runtime.GOMAXPROCS(0), int(part))
			return nil
		}))
	r := &b.found
	r.Prefill = time.Duration(times[0].Best(0))
	r.PromptFloor = time.Duration(times[1].Best(0) * float64(products) / float64(part))
	r.Products = float64(products) / r.Prefill.Seconds()
}

// steps measures steps and their floor in turns. The floor reads what Load has released, so that more is resident.
func (b *bench) steps(t *step.T, s *decoder.Session, text []int) {
	var weights [][]byte
	for _, name := range b.folder.File().Names() {
		weights = append(weights, step.Must(b.folder.File().Tensor(name)).Bytes())
	}
	read := measure.Reads(runtime.GOMAXPROCS(0), weights...)
	i := 0
	times := step.Must(measure.Turns(t.Ctx, b.Steps, func(func()) error {
		i++
		return s.Step(t.Ctx, text[(i-1)%len(text)])
	}, func(func()) error {
		read()
		return nil
	}))
	b.found.Step, b.found.ReadFloor = time.Duration(times[0].Median(0)), time.Duration(times[1].Median(0))
}

// restore compares a prompt of all tokens but the last one with a snapshot of them, restored in another session. The
// last token shows that both continue alike. The model has room for these tokens alone: a pass takes longer in a larger
// one.
func (b *bench) restore(t *step.T, all []int) {
	path := filepath.Join(b.Dir, "bench.kv")
	defer os.Remove(path) // a test's folder, or one that the caller removes
	m, s := b.load(t, len(all))
	other := step.Must(m.NewSession())
	t.Closing(other.Close)
	last, rounds := len(all)-1, b.Rounds
	if last > 1024 {
		rounds = 1 // it takes minutes
	}
	r := Restored{Tokens: last}
	r.Prefill = best(t, rounds, func() { again(t, s, all[:last]) })
	r.Save = best(t, 3, func() { step.NoError(s.SaveFile(t.Ctx, path, decoder.Snapshot{Prompt: all})) })
	r.Restore = best(t, 3, func() {
		step.NoError(other.Truncate(0))
		step.Must(other.RestoreFile(t.Ctx, path, all))
	})
	r.Bytes = step.Must(os.Stat(path)).Size()
	step.NoError(s.Step(t.Ctx, all[last]))
	step.NoError(other.Step(t.Ctx, all[last]))
	r.Same = slices.Equal(s.Logits(), other.Logits())
	b.found.Restores = append(b.found.Restores, r)
}
