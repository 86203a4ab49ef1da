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
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/engine/soft/peak"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/procmem"
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

	Peak func() int64 // peak resident memory, for Result.Peak
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

	Weights Weights `json:"weights"`
	Peak    int64   `json:"peak_bytes"` // peak resident bytes until the end of the first steps; 0 if not known
	Keys    []Kept  `json:"kv"`

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

// Kept is a cache of the model's shape with some tokens.
type Kept struct {
	Mode   string `json:"mode"` // reserved or grown
	Tokens int    `json:"tokens"`
	Bytes  int64  `json:"bytes"` // resident
	Copied int64  `json:"copied_bytes"`
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
	r.Weights.Stored = f.Bytes()
	if err := r.speed(ctx, d, f, s, p, now); err != nil {
		return r, err
	}
	if r.Keys, err = keep(f.Config()); err != nil {
		return r, err
	}
	return r, r.restores(ctx, d, f, p, now)
}

// loaded loads the model with room for some tokens, begins a session and calls use.
func loaded(ctx context.Context, d *ane.Device, f *decoder.Folder, p Plan, room int,
	use func(*decoder.Model, *decoder.Session) error) (err error) {
	m, err := decoder.Load(ctx, d, f, decoder.WithForm(p.Form), decoder.Context(room))
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

// tokens returns n tokens of a vocabulary.
func tokens(n, vocabulary int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = (i*7919 + 13) % vocabulary
	}
	return all
}

// speed measures load, prompts and steps, and their memory.
func (r *Result) speed(ctx context.Context, d *ane.Device, f *decoder.Folder, s Shape, p Plan,
	now func(string)) error {
	now("load")
	before, _ := procmem.Resident()
	begin := time.Now()
	return loaded(ctx, d, f, p, p.Prompt+1+p.Steps, func(m *decoder.Model, session *decoder.Session) (err error) {
		r.Load = time.Since(begin)
		debug.FreeOSMemory() // the memory of making the model and compiling
		text := tokens(p.Prompt, s.Vocabulary)
		again := func(n int) func() error {
			return func() error {
				if err := session.Truncate(0); err != nil {
					return err
				}
				return session.Prefill(ctx, text[:n])
			}
		}
		now("a prompt of 5 tokens")
		if r.Short, err = measure.Best(ctx, p.Rounds, again(min(5, p.Prompt))); err != nil {
			return err
		}
		r.First, err = measure.Best(ctx, p.Rounds, func() error {
			if err := session.Truncate(0); err != nil {
				return err
			}
			_, err := session.Answer(ctx, &decoder.Talk{Prompt: text[:min(5, p.Prompt)]}, 1, nil)
			return err
		})
		if err != nil {
			return err
		}
		now(fmt.Sprintf("a prompt of %d tokens", p.Prompt))
		r.Prompt = p.Prompt
		if err := r.prompt(ctx, s, p.Rounds, again(p.Prompt)); err != nil {
			return err
		}
		now("steps")
		if err := session.Step(ctx, text[0]); err != nil {
			return err
		}
		if p.Peak != nil {
			r.Peak = p.Peak()
		}
		plan := m.Plan()
		r.Weights.Mapped, r.Weights.Converted = plan.WeightsMapped, plan.WeightsConverted
		own, _ := procmem.Resident()
		r.Weights.Own = max(0, own-before)
		r.Weights.Read = r.Weights.Own + plan.WeightsMapped
		r.Weights.KV = plan.CacheBytes
		return r.steps(ctx, f, session, text, p.Steps)
	})
}

// prompt measures a prompt and its floor in turns. The floor has a part of the products.
func (r *Result) prompt(ctx context.Context, s Shape, rounds int, once func() error) error {
	const most = 1 << 34
	products := s.Products(r.Prompt)
	part := min(products, most)
	t, err := measure.Turns(ctx, rounds, func(*measure.Watch) error { return once() }, func(*measure.Watch) error {
		peak.Share(runtime.GOMAXPROCS(0), int(part))
		return nil
	})
	if err != nil {
		return err
	}
	r.Prefill = time.Duration(t[0].Best(0))
	r.PromptFloor = time.Duration(t[1].Best(0) * float64(products) / float64(part))
	r.Products = float64(products) / r.Prefill.Seconds()
	return nil
}

// steps measures steps and their floor in turns. The floor reads what Load has released, so that more is resident.
func (r *Result) steps(ctx context.Context, f *decoder.Folder, s *decoder.Session, text []int, n int) error {
	read, err := reader(f)
	if err != nil {
		return err
	}
	i := 0
	t, err := measure.Turns(ctx, n, func(*measure.Watch) error {
		i++
		return s.Step(ctx, text[(i-1)%len(text)])
	}, func(*measure.Watch) error {
		read()
		return nil
	})
	if err != nil {
		return err
	}
	r.Step, r.ReadFloor = time.Duration(t[0].Median(0)), time.Duration(t[1].Median(0))
	return nil
}

// reader returns a function by which all processors read the weights once.
func reader(f *decoder.Folder) (func(), error) {
	var parts [][]byte
	for _, name := range f.File().Names() {
		t, err := f.File().Tensor(name)
		if err != nil {
			return nil, err
		}
		for b := t.Bytes(); len(b) > 0; {
			n := min(len(b), 1<<20)
			parts = append(parts, b[:n])
			b = b[n:]
		}
	}
	var sum atomic.Uint64 // keeps the compiler from removing the reads
	return func() {
		var wait sync.WaitGroup
		n := runtime.GOMAXPROCS(0)
		for k := range n {
			wait.Go(func() {
				for i := k; i < len(parts); i += n {
					sum.Add(touch(parts[i]))
				}
			})
		}
		wait.Wait()
	}, nil
}

// keep fills a reserved cache and one that grows with 1024 tokens.
func keep(c decoder.Config) (all []Kept, err error) {
	const most = 1024
	for _, mode := range []string{"reserved", "grown"} {
		config := kv.Config{Layers: c.Layers, Heads: c.KVHeads, HeadDim: c.HeadDim, Context: 4096}
		if mode == "grown" {
			config.Context, config.Grow = kv.Step, true
		}
		before, _ := procmem.Resident()
		cache, err := kv.New(config)
		if err != nil {
			return nil, err
		}
		token := make([]byte, c.KVHeads*c.HeadDim*2)
		for at := range most {
			for layer := range c.Layers {
				err = errors.Join(err, cache.Append(layer, token, token))
			}
			if err = errors.Join(err, cache.Advance(1)); err != nil {
				return nil, errors.Join(err, cache.Close())
			}
			if n := at + 1; n == 24 || n == 256 || n == most {
				own, _ := procmem.Resident()
				all = append(all, Kept{mode, n, max(0, own-before), cache.Copied()})
			}
		}
		if err := cache.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// restores measures snapshots beside prompts.
func (r *Result) restores(ctx context.Context, d *ane.Device, f *decoder.Folder, p Plan, now func(string)) error {
	r.Restores = []Restored{}
	path := filepath.Join(p.Dir, "bench.kv")
	defer os.Remove(path) // a test's folder, or one that the caller removes
	for _, n := range p.Restore {
		now(fmt.Sprintf("restore %d tokens", n))
		// A session of its own room each: a pass takes longer in a larger one.
		err := loaded(ctx, d, f, p, n+1, func(m *decoder.Model, s *decoder.Session) error {
			other, err := m.NewSession()
			if err != nil {
				return err
			}
			row, err := restoreOne(ctx, s, other, path, tokens(n+1, m.Config().Vocabulary), p.Rounds)
			r.Restores = append(r.Restores, row)
			return errors.Join(err, other.Close())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// restoreOne compares a prompt of all tokens but the last one with a snapshot of them, restored in another session.
// The last token shows that both continue alike.
func restoreOne(ctx context.Context, s, other *decoder.Session, path string, all []int, rounds int) (r Restored,
	err error) {
	last := len(all) - 1
	talk := decoder.Talk{Prompt: all}
	r.Tokens = last
	if last > 1024 {
		rounds = 1 // it takes minutes
	}
	r.Prefill, err = measure.Best(ctx, rounds, func() error {
		if err := s.Truncate(0); err != nil {
			return err
		}
		return s.Prefill(ctx, all[:last])
	})
	if err != nil {
		return r, err
	}
	if r.Save, err = measure.Best(ctx, 3, func() error { return s.SaveFile(ctx, path, talk) }); err != nil {
		return r, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return r, err
	}
	r.Bytes = info.Size()
	r.Restore, err = measure.Best(ctx, 3, func() error {
		if err := other.Truncate(0); err != nil {
			return err
		}
		_, err := other.RestoreFile(ctx, path, all)
		return err
	})
	if err != nil {
		return r, err
	}
	if err := errors.Join(s.Step(ctx, all[last]), other.Step(ctx, all[last])); err != nil {
		return r, err
	}
	r.Same = slices.Equal(s.Logits(), other.Logits())
	return r, other.Truncate(0)
}
