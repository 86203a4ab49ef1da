package dlpack

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// Option configures Export.
type Option func(*settings)

type settings struct {
	readOnly bool
	deleted  func()
}

// ReadOnly sets the flag that forbids the consumer to write, also for memory that is not read-only. A consumer of this
// package obeys it; nothing prevents others from writing.
func ReadOnly() Option { return func(s *settings) { s.readOnly = true } }

// OnDelete calls f once, after the deleter has released the Block, on the thread that called the deleter. A panic of f
// ends the process if that is a thread of C. If Export fails, f is not called.
func OnDelete(f func()) Option { return func(s *settings) { s.deleted = f } }

// Export returns t as a managed tensor on the same bytes, which the caller owns: it passes the address to one consumer,
// or calls Delete. The tensor's Block is retained until the deleter runs. The managed tensor itself is memory of this
// package, which another Export uses again after the deleter.
//
// Errors: ane.ErrStale (the memory is closed, returned or cleared), ane.ErrUnavailable.
func Export(t *ane.Tensor, opts ...Option) (*ManagedTensorVersioned, error) {
	e, flags, err := lend(t, opts, versioned)
	if err != nil {
		return nil, err
	}
	m := &e.managed
	m.Version, m.ManagerCtx, m.Deleter, m.Flags = Version{Major: Major}, e.number, process.deleters.versioned, flags
	e.describe(&m.Tensor, t)
	return m, nil
}

// ExportLegacy is Export in the format before 1.0, for consumers that know no other. It has no flags: the error of a
// read-only tensor is ane.ErrReadOnly.
func ExportLegacy(t *ane.Tensor, opts ...Option) (*ManagedTensor, error) {
	e, _, err := lend(t, opts, legacy)
	if err != nil {
		return nil, err
	}
	m := e.managed.legacy()
	m.ManagerCtx, m.Deleter = e.number, process.deleters.legacy
	e.describe(&m.Tensor, t)
	return m, nil
}

// lend retains the Block of t for a new export.
func lend(t *ane.Tensor, opts []Option, f form) (e *export, flags uint64, err error) {
	if err := process.start(); err != nil {
		return nil, 0, err
	}
	var s settings
	if len(opts) > 0 {
		s = apply(opts)
	}
	block, mem := t.Block(), t.Bytes()
	if s.readOnly || block.ReadOnly() {
		flags = FlagReadOnly
	}
	switch {
	case f == legacy && flags != 0 && mem != nil:
		return nil, 0, refusal(t, ane.ErrReadOnly, "a DLManagedTensor has no flags: use Export")
	case mem == nil || block.Retain() != nil:
		return nil, 0, refusal(t, ane.ErrStale, "export a tensor on memory that is open")
	}
	e = process.take(block, s.deleted, f)
	e.first = addressOf(&mem[0])
	return e, flags, nil
}

func apply(opts []Option) settings {
	var s settings
	for _, o := range opts {
		if o != nil {
			o(&s)
		}
	}
	return s
}

func refusal(t *ane.Tensor, err error, hint string) error {
	return &ane.Error{Op: "export", Name: t.Layout().Name, Err: err, Hint: hint}
}

// describe fills d, which is in the export.
func (e *export) describe(d *Tensor, t *ane.Tensor) {
	rank := t.Strides(&e.lengths, &e.strides)
	*d = Tensor{
		Data: e.first, Device: Device{Type: CPU}, NDim: int32(rank), DType: dataType(t.DType()),
		Shape: addressOf(&e.lengths[0]), Strides: addressOf(&e.strides[0]),
	}
}

// dataType is the format's name of a type that tensors have.
func dataType(d mil.DType) DataType {
	for i := range types {
		if types[i].ane == d {
			return types[i].dlpack
		}
	}
	return DataType{}
}

// types has the types that tensors may have, the usual ones first.
var types = [...]struct {
	ane    mil.DType
	dlpack DataType
}{
	{mil.FP16, DataType{Float, 16, 1}}, {mil.FP32, DataType{Float, 32, 1}}, {mil.Bool, DataType{Bool, 8, 1}},
	{mil.Int8, DataType{Int, 8, 1}}, {mil.UInt8, DataType{UInt, 8, 1}}, {mil.Int16, DataType{Int, 16, 1}},
	{mil.UInt16, DataType{UInt, 16, 1}}, {mil.Int32, DataType{Int, 32, 1}}, {mil.UInt32, DataType{UInt, 32, 1}},
}

// Delete calls the deleter, for the owner of a tensor that no consumer takes. The caller must not use m afterwards.
func (m *ManagedTensorVersioned) Delete() {
	if m != nil {
		process.delete(m.Deleter, m.Address())
	}
}

// Delete calls the deleter, for the owner of a tensor that no consumer takes. The caller must not use m afterwards.
func (m *ManagedTensor) Delete() {
	if m != nil {
		process.delete(m.Deleter, m.Address())
	}
}

// Stats are counters of this process.
type Stats struct {
	Exported int64 // exports whose deleter has not been called
	Refused  int64 // calls of a deleter of this package with a tensor that is no export, or is one no more
}

// Live returns the counters. A test or a command that ends with more Exported than it began with has leaked.
func Live() Stats {
	process.mu.Lock()
	defer process.mu.Unlock()
	return process.stats
}
