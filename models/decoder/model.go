package decoder

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
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
}

// Load builds the programs of a model, compiles and loads them on d. It reads the weights.
//
// Errors: ErrNaN (a weight is not finite; Name is its tensor), ErrLimits (the programs exceed the limits of a chip),
// ErrTooLong (Context is beyond the positions of the model), and those of ane.Device.Compile and ane.Model.Load.
func Load(ctx context.Context, d *ane.Device, f *Folder, opts ...Option) (*Model, error) {
	m := &Model{device: d, folder: f, config: f.config}
	for _, o := range opts {
		o(&m.o)
	}
	done, err := f.use()
	if err != nil {
		return nil, err
	}
	m.done = done
	return m, nil
}

// Config returns the description of the model. The caller must not change what it points to.
func (m *Model) Config() Config { return m.config }

// Folder returns the Folder that the model was loaded from.
func (m *Model) Folder() *Folder { return m.folder }

// Form returns the form of the programs.
func (m *Model) Form() Form { return m.o.form }

// Context is the number of tokens that a session has room for.
func (m *Model) Context() int { return m.o.context }

// Receipt describes the engine.
func (m *Model) Receipt() ane.Receipt { return m.device.Receipt() }

// Fingerprint identifies the model and the arithmetic, for snapshots of its sessions: Folder.Fingerprint with the
// form of the programs and the numerics of the engine. Engines whose Info.Numerics agree, such as soft and broker,
// have one fingerprint.
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

// Plan returns what the model takes, beside the limits.
func (m *Model) Plan() Plan { return m.plan }

// NewSession begins a conversation with a cache and requests of its own. opts are options of unimem.Start for its
// memory. The caller closes the Session before the Model.
func (m *Model) NewSession(opts ...unimem.Option) (*Session, error) {
	return &Session{model: m}, nil
}

// Close unloads the programs and frees them. The error is ErrInUse while a Session is open. Repeated calls do nothing.
func (m *Model) Close(ctx context.Context) error {
	m.done()
	return nil
}
