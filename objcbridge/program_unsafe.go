package objcbridge

import (
	"math"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// Program is one program and its state in the framework: created, compiled, loaded.
type Program struct {
	object object
}

// NewProgram makes a program from a MIL text and the files that it names. text and the weights' Data are used in place
// and must not change until Close. They are kept alive and pinned until C no longer uses them. The error is an *Error
// of StageCreate.
func (b *Bridge) NewProgram(text []byte, weights []Weight) (*Program, error) {
	if len(weights) > math.MaxInt32 {
		return nil, refuse(StageCreate, ReasonArgument, "too many weights: %d", len(weights))
	}
	if err := b.use(StageCreate); err != nil {
		return nil, err
	}
	defer b.mu.RUnlock()
	pins := new(runtime.Pinner)
	rows := make([]cWeight, len(weights))
	for i, w := range weights {
		if strings.ContainsRune(w.Path, 0) {
			pins.Unpin()
			return nil, refuse(StageCreate, ReasonArgument, "the path of weight %d has a zero byte", i)
		}
		path := cString(w.Path)
		pins.Pin(path)
		rows[i] = cWeight{path: path, data: pinned(pins, w.Data), size: uintptr(len(w.Data))}
	}
	source := pinned(pins, text)
	first := pinned(pins, rows)
	p := &Program{object: object{bridge: b, what: "program", free: b.lib.programRelease, pins: pins}}
	var record cError
	keep(pins)
	k := call(b.lib.programCreate, b.handle, uintptr(source), uintptr(len(text)),
		uintptr(first), uintptr(len(rows)), uintptr(unsafe.Pointer(&p.object.handle)), uintptr(unsafe.Pointer(&record)))
	if err := record.err(StageCreate, k); err != nil {
		drop(pins)
		return nil, err
	}
	return p, nil
}

// pinned pins the memory of a slice and returns its address, or nil for an empty slice. Memory
// outside the Go heap, such as a Block's, does not move.
func pinned[T any](pins *runtime.Pinner, s []T) unsafe.Pointer {
	if len(s) == 0 {
		return nil
	}
	first := unsafe.SliceData(s)
	pins.Pin(first)
	return unsafe.Pointer(first)
}

// use begins a call. p.object.done ends it.
func (p *Program) use(stage Stage) error {
	if p == nil {
		return closed(stage, "program")
	}
	return p.object.use(stage)
}

// SetResidency sets whether later loads keep the program's memory wired or let it be paged out; at first they
// leave it to the framework. The error is of KindMissing if the framework has no such option.
func (p *Program) SetResidency(r Residency) error {
	if err := p.use(StageLoad); err != nil {
		return err
	}
	defer p.object.done()
	var record cError
	k := call(p.object.bridge.lib.programReside, p.object.handle, uintptr(r), uintptr(unsafe.Pointer(&record)))
	return record.err(StageLoad, k)
}

// SetPatience sets how long each later call on the program waits for other processes, at first 30 s. All processes that
// make a program of the same text and weights have one folder for it, so one of them at a time compiles, loads,
// unloads or purges it, or has compiled it and not yet loaded it. If that takes longer, the error of the call has
// ReasonHeld; Close goes on.
func (p *Program) SetPatience(d time.Duration) {
	if p.use(StageCompile) != nil {
		return
	}
	defer p.object.done()
	call(p.object.bridge.lib.programPatience, p.object.handle, uintptr(d.Milliseconds()))
}

// Compile writes the program's files and compiles it, unless the framework has it in its cache. A program is compiled
// once. qos is one of the classes of package driverabi, here and in Load, Unload, Evaluate and Start; without a
// restricted entitlement the framework rejects real time. The error is an *Error of StageCompile, with the compiler's
// words.
func (p *Program) Compile(qos uint32) (cached bool, err error) {
	if err := p.use(StageCompile); err != nil {
		return false, err
	}
	defer p.object.done()
	var hit int32
	var record cError
	k := call(p.object.bridge.lib.programCompile, p.object.handle, uintptr(qos),
		uintptr(unsafe.Pointer(&hit)), uintptr(unsafe.Pointer(&record)))
	if err := record.err(StageCompile, k); err != nil {
		return false, err
	}
	return hit != 0, nil
}

// Load loads the compiled program into the engine, and removes its files unless Options.KeepFiles is set. After Unload
// it works as long as the framework has the program in its cache; otherwise the error has ReasonReload. It has
// ReasonCrowded if this process has reached its limit of loaded programs. A load that the framework rejects is retried
// once after 100 ms; Facts.Recovered reports it.
func (p *Program) Load(qos uint32) error {
	if err := p.use(StageLoad); err != nil {
		return err
	}
	defer p.object.done()
	var record cError
	k := call(p.object.bridge.lib.programLoad, p.object.handle, uintptr(qos), uintptr(unsafe.Pointer(&record)))
	return record.err(StageLoad, k)
}

// Unload unloads the program from the engine and removes its files. The error is an *Error of StageUnload.
func (p *Program) Unload(qos uint32) error {
	if err := p.use(StageUnload); err != nil {
		return err
	}
	defer p.object.done()
	var record cError
	k := call(p.object.bridge.lib.programUnload, p.object.handle, uintptr(qos), uintptr(unsafe.Pointer(&record)))
	return record.err(StageUnload, k)
}

// Purge removes the program from the framework's cache. Calling it is optional. The error is an *Error of StagePurge.
func (p *Program) Purge() error {
	if err := p.use(StagePurge); err != nil {
		return err
	}
	defer p.object.done()
	var record cError
	k := call(p.object.bridge.lib.programPurge, p.object.handle, uintptr(unsafe.Pointer(&record)))
	return record.err(StagePurge, k)
}

// Close unloads the program if necessary, removes its files and releases text and weights. Requests
// made from it are valid with another load of the same text.
func (p *Program) Close() {
	if p != nil {
		p.object.close()
	}
}
