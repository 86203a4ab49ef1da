// Package decoderbench makes language models of random weights in the shapes of published ones, and measures package
// decoder with them: load, first token, rates, memory, and restoring a snapshot beside repeating the prefill. Seed has
// the published figures, of Llama 3.2 1B on the GPU of an M1 ("Zero-Copy GPU Inference from WebAssembly on Apple
// Silicon", abacusnoir.com, 2026).
package decoderbench

import (
	"context"
	"errors"
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
	"github.com/anekit/anekit/internal/weightbench"
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

	Weights Weights                `json:"weights"`
	Peak    int64                  `json:"peak_bytes"` // peak resident bytes until the end of the first steps; 0 if not known
	Keys    []weightbench.Resident `json:"kv"`

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

// Ratio is the time of the prompt divided by that of the restore.
func (r Restored) Ratio() float64 { return r.Prefill.Seconds() / r.Restore.Seconds() }

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
	f, err := decoder.Open(p.Dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	now("read the weights")
	if _, err := f.Fingerprint(ctx); err != nil { // it fills the page cache
		return r, err
	}
	b := &bench{Plan: p, shape: s, device: d, folder: f, now: now}
	b.found.Weights.Stored, b.found.Prompt, b.found.Restores = f.Bytes(), p.Prompt, []Restored{}
	if err := b.speed(ctx); err != nil {
		return r, err
	}
	c := f.Config()
	if b.found.Keys, err = weightbench.Fill(c.Layers, c.KVHeads, c.HeadDim); err != nil {
		return r, err
	}
	err = b.restores(ctx)
	return b.found, err
}

// loaded loads the model with room for some tokens, begins a session and calls use.
func (b *bench) loaded(ctx context.Context, room int, use func(*decoder.Model, *decoder.Session) error) (err error) {
	m, err := decoder.Load(ctx, b.device, b.folder, decoder.WithForm(b.Form), decoder.Context(room))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(context.WithoutCancel(ctx))) }()
	s, err := m.NewSession()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return use(m, s)
}

// tokens returns n tokens of the vocabulary.
func (b *bench) tokens(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = (i*7919 + 13) % b.shape.Vocabulary
	}
	return all
}

// timed is a call whose shortest time counts.
type timed struct {
	to     *time.Duration
	rounds int
	call   func() error
}

func best(ctx context.Context, all ...timed) (err error) {
	for _, t := range all {
		if *t.to, err = measure.Best(ctx, t.rounds, t.call); err != nil {
			return err
		}
	}
	return nil
}

// again is the prefill of a conversation that begins again.
func again(ctx context.Context, s *decoder.Session, prompt []int) error {
	if err := s.Truncate(0); err != nil {
		return err
	}
	return s.Prefill(ctx, prompt)
}

// speed measures load, prompts and steps, and their memory.
func (b *bench) speed(ctx context.Context) error {
	r := &b.found
	b.now("load")
	before, _ := procmem.Resident()
	begin := time.Now()
	return b.loaded(ctx, b.Prompt+1+b.Steps, func(m *decoder.Model, s *decoder.Session) error {
		r.Load = time.Since(begin)
		debug.FreeOSMemory() // the memory of making the model and compiling
		text := b.tokens(b.Prompt)
		short := text[:min(5, b.Prompt)]
		b.now("a prompt of 5 tokens")
		err := best(ctx, timed{&r.Short, b.Rounds, func() error { return again(ctx, s, short) }},
			timed{&r.First, b.Rounds, func() error {
				if err := s.Truncate(0); err != nil {
					return err
				}
				_, err := s.Answer(ctx, &decoder.Talk{Prompt: short}, 1, nil)
				return err
			}})
		if err != nil {
			return err
		}
		b.now(fmt.Sprintf("a prompt of %d tokens", b.Prompt))
		if err := b.prompt(ctx, s, text); err != nil {
			return err
		}
		b.now("steps")
		if err := s.Step(ctx, text[0]); err != nil {
			return err
		}
		r.Peak = procmem.Peak()
		own, _ := procmem.Resident()
		own, plan := max(0, own-before), m.Plan()
		r.Weights = Weights{Stored: r.Weights.Stored, Mapped: plan.WeightsMapped, Converted: plan.WeightsConverted,
			Own: own, Read: own + plan.WeightsMapped, KV: plan.CacheBytes}
		return b.steps(ctx, s, text)
	})
}

// prompt measures a prompt and its floor in turns. The floor has a part of the products.
func (b *bench) prompt(ctx context.Context, s *decoder.Session, text []int) error {
	const most = 1 << 34
	products := b.shape.Products(b.Prompt)
	part := min(products, most)
	t, err := measure.Turns(ctx, b.Rounds, func(func()) error { return again(ctx, s, text) }, func(func()) error {
		peak.Share(runtime.GOMAXPROCS(0), int(part))
		return nil
	})
	if err != nil {
		return err
	}
	r := &b.found
	r.Prefill = time.Duration(t[0].Best(0))
	r.PromptFloor = time.Duration(t[1].Best(0) * float64(products) / float64(part))
	r.Products = float64(products) / r.Prefill.Seconds()
	return nil
}

// steps measures steps and their floor in turns. The floor reads what Load has released, so that more is resident.
func (b *bench) steps(ctx context.Context, s *decoder.Session, text []int) error {
	var weights [][]byte
	for _, name := range b.folder.File().Names() {
		t, err := b.folder.File().Tensor(name)
		if err != nil {
			return err
		}
		weights = append(weights, t.Bytes())
	}
	read := measure.Reads(runtime.GOMAXPROCS(0), weights...)
	i := 0
	t, err := measure.Turns(ctx, b.Steps, func(func()) error {
		i++
		return s.Step(ctx, text[(i-1)%len(text)])
	}, func(func()) error {
		read()
		return nil
	})
	if err != nil {
		return err
	}
	b.found.Step, b.found.ReadFloor = time.Duration(t[0].Median(0)), time.Duration(t[1].Median(0))
	return nil
}

// restores measures snapshots beside prompts.
func (b *bench) restores(ctx context.Context) error {
	path := filepath.Join(b.Dir, "bench.kv")
	defer os.Remove(path) // a test's folder, or one that the caller removes
	for _, n := range b.Restore {
		b.now(fmt.Sprintf("restore %d tokens", n))
		// A session of its own room each: a pass takes longer in a larger one.
		err := b.loaded(ctx, n+1, func(m *decoder.Model, s *decoder.Session) error {
			other, err := m.NewSession()
			if err != nil {
				return err
			}
			return errors.Join(b.restore(ctx, s, other, path, b.tokens(n+1)), other.Close())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// restore compares a prompt of all tokens but the last one with a snapshot of them, restored in another session. The
// last token shows that both continue alike.
func (b *bench) restore(ctx context.Context, s, other *decoder.Session, path string, all []int) error {
	last := len(all) - 1
	r, rounds := Restored{Tokens: last}, b.Rounds
	if last > 1024 {
		rounds = 1 // it takes minutes
	}
	err := best(ctx, timed{&r.Prefill, rounds, func() error { return again(ctx, s, all[:last]) }},
		timed{&r.Save, 3, func() error { return s.SaveFile(ctx, path, decoder.Talk{Prompt: all}) }},
		timed{&r.Restore, 3, func() error {
			if err := other.Truncate(0); err != nil {
				return err
			}
			_, err := other.RestoreFile(ctx, path, all)
			return err
		}})
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := errors.Join(s.Step(ctx, all[last]), other.Step(ctx, all[last])); err != nil {
		return err
	}
	r.Bytes, r.Same = info.Size(), slices.Equal(s.Logits(), other.Logits())
	b.found.Restores = append(b.found.Restores, r)
	return nil
}
