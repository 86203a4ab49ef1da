package objcbridge

import (
	"math"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// Program is one program and its state in the framework: created, compiled, loaded.
type Program struct{ object }

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
	defer b.done()
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
	p := &Program{object{bridge: b, what: "program", free: b.lib.programRelease, pins: pins}}
	var record cError
	keep(pins)
	k := call(b.lib.programCreate, b.handle, uintptr(source), uintptr(len(text)),
		uintptr(first), uintptr(len(rows)), uintptr(unsafe.Pointer(&p.handle)), uintptr(unsafe.Pointer(&record)))
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

// use begins a call. done ends it.
func (p *Program) use(stage Stage) error {
	if p == nil {
		return closed(stage, "program")
	}
	return p.object.use(stage)
}

// SetResidency sets whether later loads keep the program's memory wired or let it be paged out; at first they
// leave it to the framework. The error is of KindMissing if the framework has no such option.
func (p *Program) SetResidency(r Residency) error {
	return do(p, StageLoad, func(record *cError) int32 {
		return call(p.bridge.lib.programReside, p.handle, uintptr(r), uintptr(unsafe.Pointer(record)))
	})
}

// SetPatience sets how long each later call on the program waits for other processes, at first 30 s. All processes that
// make a program of the same text and weights share one folder. One of them at a time compiles, loads, unloads or
// purges it, or has compiled it and not yet loaded it. If that takes longer, the error of the call has ReasonHeld;
// Close goes on.
func (p *Program) SetPatience(d time.Duration) {
	if p.use(StageCompile) != nil {
		return
	}
	defer p.done()
	call(p.bridge.lib.programPatience, p.handle, uintptr(d.Milliseconds()))
}

// Compile writes the program's files and compiles it, unless the framework has it in its cache. A program is compiled
// once. Here and in Load, Unload and Evaluate, qos is a class of package driverabi. Without a restricted entitlement
// the framework rejects real time. The error is an *Error of StageCompile, with the compiler's words.
func (p *Program) Compile(qos uint32) (cached bool, err error) {
	var hit int32
	err = do(p, StageCompile, func(record *cError) int32 {
		return call(p.bridge.lib.programCompile, p.handle, uintptr(qos), uintptr(unsafe.Pointer(&hit)),
			uintptr(unsafe.Pointer(record)))
	})
	return err == nil && hit != 0, err
}

// Load loads the compiled program into the engine, and removes its files unless Options.KeepFiles is set. After Unload
// it works as long as the framework has the program in its cache; otherwise the error has ReasonReload. It has
// ReasonCrowded if this process has reached its limit of loaded programs. A load that the framework rejects is retried
// once after 100 ms; Facts.Recovered reports it.
func (p *Program) Load(qos uint32) error {
	return do(p, StageLoad, func(record *cError) int32 {
		return call(p.bridge.lib.programLoad, p.handle, uintptr(qos), uintptr(unsafe.Pointer(record)))
	})
}

// Unload unloads the program from the engine and removes its files. The error is an *Error of the stage unload.
func (p *Program) Unload(qos uint32) error {
	return do(p, stageUnload, func(record *cError) int32 {
		return call(p.bridge.lib.programUnload, p.handle, uintptr(qos), uintptr(unsafe.Pointer(record)))
	})
}

// Purge removes the program from the framework's cache. Calling it is optional. The error is an *Error of the
// stage purge.
func (p *Program) Purge() error {
	return do(p, stagePurge, func(record *cError) int32 {
		return call(p.bridge.lib.programPurge, p.handle, uintptr(unsafe.Pointer(record)))
	})
}

// Close unloads the program if necessary, removes its files and releases text and weights. Requests
// made from it are valid with another load of the same text.
func (p *Program) Close() {
	if p != nil {
		p.object.close()
	}
}

// Attributes returns the modelAttributes of a loaded program as JSON. Objects of classes
// unknown to JSON are {"$class": NAME}. The error is of KindMissing if the attributes cannot
// be encoded: no dictionary, text that is not Unicode, or unlimited nesting.
func (p *Program) Attributes() ([]byte, error) {
	return list(stageDescribe, 16<<10, 16<<20, func(room []byte) (int, error) {
		var length uintptr
		err := do(p, stageDescribe, func(record *cError) int32 {
			return call(p.bridge.lib.programAttributes, p.handle, uintptr(unsafe.Pointer(unsafe.SliceData(room))),
				uintptr(len(room)), uintptr(unsafe.Pointer(&length)), uintptr(unsafe.Pointer(record)))
		})
		if err != nil {
			return 0, err
		}
		return int(length), nil
	})
}

// Inspect returns the framework's facts about the program. The error is an *Error of the stage describe.
func (p *Program) Inspect() (Facts, error) {
	var c cFacts
	var f Facts
	err := do(p, stageDescribe, func(record *cError) int32 {
		k := call(p.bridge.lib.programInspect, p.handle, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(record)))
		if k == 0 { // the texts are valid as long as the program
			f = Facts{
				Identity: goString(c.identity), Path: goString(c.path), Handle: c.handle, Intermediate: c.intermediate,
				State: c.state, Loaded: c.loaded != 0, QueueDepth: int(c.queueDepth), PerfStats: c.perfStatsMask,
				Recovered: c.recovered.refusal(),
			}
		}
		return k
	})
	return f, err
}
