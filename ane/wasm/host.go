package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/ane"
	linear "github.com/anekit/anekit/unimem/wasm"
)

// Module is the name of the module whose functions guests import.
const Module = "anekit"

// Limits bound the resources of a guest. A zero field has the default in brackets.
type Limits struct {
	Memory   int           // bytes of linear memory to reserve, at most 4 GiB (64 MiB)
	Programs int           // programs open at once (16)
	Objects  int           // requests, caches and samplers open at once (64)
	Caches   int           // bytes of caches together (64 MiB)
	Text     int           // bytes of the text of program_compile (1 MiB); below 0 guests compile none
	Time     time.Duration // of a call of an export with everything in it, and of a run of start (10 s)
	Output   io.Writer     // of print and of standard output and error (discarded)
}

func (l Limits) withDefaults() Limits {
	number := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	number(&l.Memory, 64<<20)
	number(&l.Programs, 16)
	number(&l.Objects, 64)
	number(&l.Caches, 64<<20)
	number(&l.Text, 1<<20)
	l.Memory = min(l.Memory, 1<<32)
	if l.Time == 0 {
		l.Time = 10 * time.Second
	}
	if l.Output == nil {
		l.Output = io.Discard
	}
	return l
}

// Sampler chooses tokens, as models/decoder's does.
type Sampler interface {
	// Next returns the index of the chosen logit, or a negative number if no logit is one. It does not change logits,
	// which may be the guest's memory.
	Next(logits []float32) int
}

// Function is a further function of the module anekit, for a host that offers more than this package.
type Function struct {
	Name            string
	Params, Results []api.ValueType
	// Call has the parameters in stack, and puts the results there. ctx ends with the time of the guest's call. A panic
	// traps the guest.
	Call func(ctx context.Context, g *Guest, stack []uint64)
}

type config struct {
	programs map[string]ane.Source
	more     []Function
	sampler  func(temperature, topP float64, seed uint64) (Sampler, error)
	copying  bool
	endless  bool
}

// Option configures NewHost.
type Option func(*config)

// Program gives guests a program that program_open finds by its name.
func Program(name string, src ane.Source) Option {
	return func(c *config) { c.programs[name] = src }
}

// Functions adds functions to the module anekit.
func Functions(all ...Function) Option {
	return func(c *config) { c.more = append(c.more, all...) }
}

// Sampling makes the samplers of sampler_open. Without it there is the greedy one only, of temperature 0.
func Sampling(f func(temperature, topP float64, seed uint64) (Sampler, error)) Option {
	return func(c *config) { c.sampler = f }
}

// Copying makes every tensor on memory of its own, which the host copies from and to the guest's around each run: the
// path that this package avoids, to compare with. Guest.Copied counts the bytes.
func Copying() Option { return func(c *config) { c.copying = true } }

// Uninterrupted leaves out the check that ends a guest in a loop, which wazero makes at the head of every loop: a loop
// of a few instructions is 10 to 100 times as fast. Limits.Time then bounds what the host does for the guest, and a
// guest that loops forever cannot be ended, so it is for guests that are trusted not to.
func Uninterrupted() Option { return func(c *config) { c.endless = true } }

// Host runs guests on a Device. Its methods are safe for concurrent use.
type Host struct {
	device  *ane.Device
	config  config
	runtime wazero.Runtime

	mu     sync.Mutex
	models map[[sha256.Size]byte]*model
	guests int
	closed bool
}

// model is a loaded program that guests share.
type model struct {
	*ane.Model
	key   [sha256.Size]byte
	users int
	ready chan struct{} // closed when Model or err is set
	err   error
}

// NewHost makes a Host on d, which stays the caller's: close it after the Host. The error matches ErrCode for a
// Function that cannot be added.
func NewHost(ctx context.Context, d *ane.Device, opts ...Option) (*Host, error) {
	h := &Host{device: d, models: map[[sha256.Size]byte]*model{}}
	h.config = config{programs: map[string]ane.Source{}, sampler: greedyOnly}
	for _, o := range opts {
		o(&h.config)
	}
	h.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(!h.config.endless))
	err := h.define(ctx)
	if err == nil {
		err = defineWASI(ctx, h.runtime)
	}
	if err != nil {
		return nil, errors.Join(&Error{Op: "open host", Err: ErrCode, Cause: err},
			h.runtime.Close(context.WithoutCancel(ctx)))
	}
	return h, nil
}

// define makes the module anekit.
func (h *Host) define(ctx context.Context) error {
	b := h.runtime.NewHostModuleBuilder(Module)
	for _, f := range append(functions(), h.config.more...) {
		call := f.Call
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
			g := guestOf(ctx)
			if g == nil {
				panic(&Error{Op: f.Name, Err: ErrCode, Detail: "called by no guest"})
			}
			if g.memory == nil { // a start function, before there is a Guest
				early(g, f, stack)
				return
			}
			call(ctx, g, stack)
		}), f.Params, f.Results).Export(f.Name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

// early answers a function that the start function of a guest calls: with a Code, since there is no memory yet.
func early(g *Guest, f Function, stack []uint64) {
	err := &Error{Op: f.Name, Code: CodeUnsupported, Err: CodeUnsupported, Detail: "the guest does not run yet",
		Hint: "call it from " + initialize}
	if len(f.Results) != 1 || f.Results[0] != i32 {
		panic(err)
	}
	stack[0] = api.EncodeI32(int32(g.Fail(f.Name, err)))
}

// Close frees the Host. The error matches ErrInUse while a Guest is open. Repeating it does nothing.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil
	case h.guests > 0:
		return &Error{Op: "close host", Err: ErrInUse, Detail: fmt.Sprintf("%d guests are open", h.guests),
			Hint: "close them first"}
	}
	h.closed = true
	return h.runtime.Close(context.WithoutCancel(ctx))
}

// Alignment is the multiple in bytes at which tensors start: ane.RowAlign on an engine that accepts offsets and for a
// copying Host, else linear.Align.
func (h *Host) Alignment() int {
	if h.device.Info().Offsets || h.config.copying {
		return ane.RowAlign
	}
	return linear.Align
}

// open returns the loaded model of a program, which guests with the same text share while one has it open. The caller
// calls drop.
func (h *Host) open(ctx context.Context, key string, src ane.Source) (*model, error) {
	sum := sha256.Sum256([]byte(key))
	h.mu.Lock()
	m := h.models[sum]
	if m == nil {
		m = &model{key: sum, ready: make(chan struct{})}
		h.models[sum] = m
		m.users++
		h.mu.Unlock()
		m.Model, m.err = load(ctx, h.device, src)
		if m.err != nil {
			h.mu.Lock()
			delete(h.models, sum)
			h.mu.Unlock()
		}
		close(m.ready)
		return m, m.err
	}
	m.users++
	h.mu.Unlock()
	select {
	case <-m.ready:
	case <-ctx.Done():
		return nil, errors.Join(ane.Deadline("open", h.device.Info().Name, ctx.Err()), h.drop(ctx, m))
	}
	switch {
	case m.err == nil:
		return m, nil
	case ctx.Err() == nil && CodeOf(m.err) == CodeDeadline:
		return h.open(ctx, key, src) // the time of the other guest was over, not that of this one
	}
	return nil, m.err
}

func load(ctx context.Context, d *ane.Device, src ane.Source) (*ane.Model, error) {
	m, err := d.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	if err := m.Load(ctx); err != nil {
		return nil, errors.Join(err, m.Close(context.WithoutCancel(ctx)))
	}
	return m, nil
}

// drop ends one use of a model; the last one closes it.
func (h *Host) drop(ctx context.Context, m *model) error {
	h.mu.Lock()
	m.users--
	last := m.users == 0
	if last && h.models[m.key] == m {
		delete(h.models, m.key)
	}
	h.mu.Unlock()
	if !last {
		return nil
	}
	<-m.ready
	if m.Model == nil {
		return nil
	}
	return m.Model.Close(context.WithoutCancel(ctx))
}

// Binary is a guest's code, compiled for this processor. Several Guests may run it.
type Binary struct {
	host   *Host
	module wazero.CompiledModule
	sum    [sha256.Size]byte
}

// Compile compiles a guest's binary, whose tables can hold 1,048,576 elements together, and whose functions have at
// most 50,000 locals each and 4,194,304 together. The error matches ErrCode. The caller closes the Binary after its
// Guests.
func (h *Host) Compile(ctx context.Context, binary []byte) (*Binary, error) {
	text, err := bounded(binary)
	if err != nil {
		return nil, &Error{Op: "compile guest", Err: ErrCode, Cause: err}
	}
	m, err := h.compile(ctx, text)
	if err != nil {
		return nil, &Error{Op: "compile guest", Err: ErrCode, Cause: err}
	}
	return &Binary{h, m, sha256.Sum256(binary)}, nil
}

// compile has wazero compile a binary, which panics for some that are not valid.
func (h *Host) compile(ctx context.Context, text []byte) (m wazero.CompiledModule, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("wazero does not validate it: %v", fault)
		}
	}()
	return h.runtime.CompileModule(ctx, text)
}

// Sum is the SHA-256 of the binary.
func (c *Binary) Sum() [sha256.Size]byte { return c.sum }

// Close frees the machine code. The error is that of wazero.
func (c *Binary) Close(ctx context.Context) error { return c.module.Close(context.WithoutCancel(ctx)) }

// greedyOnly is the default of Sampling.
func greedyOnly(temperature, _ float64, _ uint64) (Sampler, error) {
	if temperature != 0 {
		return nil, &Error{Op: "sampler_open", Code: CodeUnsupported, Err: CodeUnsupported,
			Detail: fmt.Sprintf("temperature %g", temperature), Hint: "give the host Sampling, or use temperature 0"}
	}
	return greedy{}, nil
}

// greedy takes the largest logit, the first one of equal ones.
type greedy struct{}

// Next implements Sampler.
func (greedy) Next(logits []float32) int {
	best, at := float32(math.Inf(-1)), 0
	for i, v := range logits {
		if v > best {
			best, at = v, i
		}
	}
	return at
}
