package decoder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// Model is a compiled and loaded model on a Device. Its methods are safe for concurrent use.
type Model struct {
	device *ane.Device
	folder *Folder
	config Config
	o      options
	plan   Plan
	done   func() // tells the Folder that the Model is closed

	weights  *unimem.Tape // converted ones
	store    *store
	trusting bool        // see trusts
	unsure   atomic.Bool // store.unseen has matrices that no results have shown to be finite
	layersOf []*set      // of the layers: for a step and for longer passes, each for all of shown
	shown    []int
	rooms    []int // of each of shown
	head     *set
	parts    grouping
	compiled []*ane.Model // those of plan.Programs

	place   sync.Mutex          // held while placed runs
	sharing map[*ane.Model]bool // programs that share one place: one of them is loaded
	placed  *ane.Model          // that one; nil without

	mu       sync.Mutex
	sessions int
	closed   bool
}

// Config returns the description of the model. The caller must not change what it points to.
func (m *Model) Config() Config { return m.config }

// Context is the number of tokens that a session has room for.
func (m *Model) Context() int { return m.o.tokens }

// Receipt describes the engine.
func (m *Model) Receipt() ane.Receipt { return m.device.Receipt() }

// Fingerprint identifies the model and the arithmetic, for snapshots of its sessions. It is Folder.Fingerprint with the
// form of the programs and the numerics of the engine. Engines whose Info.Numerics agree, such as soft and broker, have
// one fingerprint. Errors are those of Folder.Fingerprint.
func (m *Model) Fingerprint(ctx context.Context) (kv.Fingerprint, error) {
	p, err := m.folder.Fingerprint(ctx)
	if err != nil {
		return p, err
	}
	info := m.device.Info()
	p.Numerics = m.o.form.String() + ": " + info.Numerics
	p.Engine, p.OS = info.Name, info.OSBuild
	return p, nil
}

// Plan returns the needs of the model, beside the limits.
func (m *Model) Plan() Plan {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.plan
}

// with loads a program if necessary and calls do. A program that shares a place unloads the one before.
func (m *Model) with(ctx context.Context, of *ane.Model, do func() error) error {
	if !m.sharing[of] {
		return do()
	}
	m.place.Lock()
	defer m.place.Unlock()
	if m.placed != nil && m.placed != of {
		if err := m.placed.Unload(ctx); err != nil {
			return err
		}
	}
	m.placed = of
	if err := of.Load(ctx); err != nil {
		return err
	}
	return do()
}

// Close unloads the programs and frees them. The error is ErrInUse while a Session is open. Repeated calls do nothing.
func (m *Model) Close(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	if m.sessions > 0 {
		return newError("close", ErrInUse, fmt.Sprintf("%d sessions are open", m.sessions), "close the sessions first")
	}
	var errs []error
	sets := m.layersOf
	if m.head != nil {
		sets = append(sets[:len(sets):len(sets)], m.head)
	}
	for _, s := range sets {
		for _, model := range s.models {
			errs = append(errs, model.Close(ctx))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &Error{Base: errtext.Base{Op: "close", Cause: err}}
	}
	if err := m.weights.Close(); err != nil {
		return &Error{Base: errtext.Base{Op: "close", Cause: err}}
	}
	m.closed = true
	m.done()
	return nil
}
