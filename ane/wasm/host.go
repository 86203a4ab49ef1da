package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/errtext"
	linear "github.com/anekit/anekit/unimem/wasm"
)

// Limits bound the resources of a guest. A zero field has the default in brackets.
type Limits struct {
	Memory   int           // bytes of linear memory to reserve, at most 4 GiB (64 MiB)
	Programs int           // programs open at once (16)
	Objects  int           // requests and caches open at once (64)
	Caches   int           // bytes of caches together (64 MiB)
	Text     int           // bytes of the text of program_compile (1 MiB); below 0 guests compile none
	Time     time.Duration // of a call of an export with everything in it, and of a run of start (10 s)
	Output   io.Writer     // of print and of standard output and error (discarded)
}

func (l Limits) withDefaults() Limits {
	l.Memory = min(cmp.Or(l.Memory, 64<<20), 1<<32)
	l.Programs = cmp.Or(l.Programs, 16)
	l.Objects = cmp.Or(l.Objects, 64)
	l.Caches = cmp.Or(l.Caches, 64<<20)
	l.Text = cmp.Or(l.Text, 1<<20)
	l.Time = cmp.Or(l.Time, 10*time.Second)
	l.Output = cmp.Or(l.Output, io.Discard)
	return l
}

type config struct {
	programs map[string]ane.Source
	more     []Function
	gpu      hal.GPU
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

// GPU lets guests run the kernels of a GPU in their memory, in place. It stays the caller's, and open until the Host is
// closed.
func GPU(g hal.GPU) Option { return func(c *config) { c.gpu = g } }

// Copying makes every tensor on memory of its own, which the host copies from and to the guest's around each run. This
// package avoids that path; Copying is for comparison. Guest.Copied counts the bytes.
func Copying() Option { return func(c *config) { c.copying = true } }

// Uninterrupted leaves out the check that ends a guest in a loop, which wazero makes at the head of every loop. A loop
// of a few instructions is then 10 to 100 times as fast. Limits.Time then bounds what the host does for the guest, and
// a guest that loops forever cannot be ended, so it is for guests that are trusted not to.
func Uninterrupted() Option { return func(c *config) { c.endless = true } }

// Host runs guests on a Device. Its methods are safe for concurrent use.
type Host struct {
	device  *ane.Device
	config  config
	runtime wazero.Runtime
	direct  wazero.Runtime // see entrances
	cache   wazero.CompilationCache
	types   sync.Mutex // held while both runtimes number a guest's types

	mu     sync.Mutex
	models map[string]*model // by key
	guests int
	closed bool
}

// NewHost makes a Host on d, which stays the caller's: close it after the Host. The error matches ErrCode for a
// Function that cannot be added.
func NewHost(ctx context.Context, d *ane.Device, opts ...Option) (*Host, error) {
	h := &Host{device: d, config: config{programs: map[string]ane.Source{}}, models: map[string]*model{},
		cache: wazero.NewCompilationCache()}
	for _, o := range opts {
		o(&h.config)
	}
	engine := wazero.NewRuntimeConfig().WithCompilationCache(h.cache)
	h.runtime = wazero.NewRuntimeWithConfig(ctx, engine.WithCloseOnContextDone(!h.config.endless))
	if !h.config.endless {
		h.direct = wazero.NewRuntimeWithConfig(ctx, engine)
	}
	var err error
	for _, r := range h.runtimes() {
		for _, module := range []wazero.HostModuleBuilder{h.define(r), defineWASI(r)} {
			_, failed := module.Instantiate(ctx)
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		return nil, errors.Join(&Error{Base: errtext.Base{Op: "open host", Err: ErrCode, Cause: err}},
			h.free(context.WithoutCancel(ctx)))
	}
	return h, nil
}

// Close frees the Host. The error matches ErrInUse while a Guest is open. Repeating it does nothing.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil
	case h.guests > 0:
		return newError("close host", ErrInUse, fmt.Sprintf("%d guests are open", h.guests), "close them first")
	}
	h.closed = true
	return h.free(context.WithoutCancel(ctx))
}

func (h *Host) free(ctx context.Context) error {
	var errs []error
	for _, r := range h.runtimes() {
		errs = append(errs, r.Close(ctx))
	}
	return errors.Join(append(errs, h.cache.Close(ctx))...)
}

// alignment is the multiple in bytes at which tensors start.
func (h *Host) alignment() int {
	if h.device.Info().Offsets || h.config.copying {
		return ane.RowAlign
	}
	return linear.Align
}

// Binary is a guest's code, compiled for this processor. Several Guests may run it.
type Binary struct {
	host    *Host
	module  wazero.CompiledModule
	once    sync.Once
	entered wazero.CompiledModule // by entrance
}

// Compile compiles a guest's binary. Its tables can hold 1,048,576 elements together; its functions have at most 50,000
// locals each and 4,194,304 together. The error matches ErrCode. The caller closes the Binary after its Guests.
func (h *Host) Compile(ctx context.Context, binary []byte) (*Binary, error) {
	text, err := bounded(binary)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "compile guest", Err: ErrCode, Cause: err}}
	}
	if err := h.number(ctx, text); err != nil {
		return nil, &Error{Base: errtext.Base{Op: "compile guest", Err: ErrCode, Cause: err}}
	}
	m, err := h.compile(ctx, text)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "compile guest", Err: ErrCode, Cause: err}}
	}
	return &Binary{host: h, module: m}, nil
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

// Close frees the machine code. The error is that of wazero.
func (c *Binary) Close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	err := c.module.Close(ctx)
	c.once.Do(func() {}) // no entrance later
	if c.entered != nil {
		err = errors.Join(err, c.entered.Close(ctx))
	}
	return err
}
