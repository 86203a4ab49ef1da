package objcbridge

import (
	"math"
	"strings"
	"sync"
	"unsafe"
)

// Bridge is an open framework.
type Bridge struct {
	mu     sync.RWMutex // Close holds it for writing, every other call for reading
	lib    *library
	handle uintptr // 0: closed
}

// Open loads the bridge and with it the framework, and runs the self-check. The error matches
// ErrBridgeUnavailable if there is no bridge. It is an *Error of KindMissing if there is no framework
// or a method is missing (Inspect reports which), and of KindRefused if a limit is out of range.
func Open(o Options) (*Bridge, error) {
	b, err := open(o)
	if err != nil {
		return nil, err
	}
	if _, err := b.selfCheck(); err != nil {
		_ = b.Close() // cannot fail: nothing was made with b
		return nil, err
	}
	return b, nil
}

// open is Open without the self-check.
func open(o Options) (*Bridge, error) {
	if o.ProgramLimit < 0 || o.ProgramLimit > math.MaxInt32 {
		return nil, refuse(stageOpen, ReasonArgument, "a limit of %d is out of range", o.ProgramLimit)
	}
	o = o.withDefaults()
	if strings.ContainsRune(o.Framework+o.IOKit, 0) {
		return nil, refuse(stageOpen, ReasonArgument, "a library path with a zero byte")
	}
	lib, err := load(o.Library)
	if err != nil {
		return nil, err
	}
	config := &cConfig{framework: cString(o.Framework), programLimit: int32(o.ProgramLimit)}
	if o.IOKit != "" {
		config.iokit = cString(o.IOKit)
	}
	if o.KeepFiles {
		config.keepFiles = 1
	}
	b := &Bridge{lib: lib}
	var record cError
	k := call(lib.open, uintptr(unsafe.Pointer(config)), uintptr(unsafe.Pointer(&b.handle)),
		uintptr(unsafe.Pointer(&record)))
	if err := record.err(stageOpen, k); err != nil {
		return nil, err
	}
	return b, nil
}

// use begins a call on the open Bridge. done ends it.
func (b *Bridge) use(stage Stage) error {
	if b == nil {
		return closed(stage, "bridge")
	}
	b.mu.RLock()
	if b.handle == 0 {
		b.mu.RUnlock()
		return closed(stage, "bridge")
	}
	return nil
}

func (b *Bridge) done() { b.mu.RUnlock() }

// Close releases the framework, which stays loaded until the process ends. Close fails with
// ReasonState while a handle made with the Bridge is alive or a call on it runs, and may then be
// repeated.
func (b *Bridge) Close() error {
	if b == nil {
		return nil
	}
	if !b.mu.TryLock() {
		return refuse(stageClose, ReasonState, "a call on the bridge runs")
	}
	defer b.mu.Unlock()
	if b.handle == 0 {
		return nil
	}
	var record cError
	k := call(b.lib.close, b.handle, uintptr(unsafe.Pointer(&record)))
	if err := record.err(stageClose, k); err != nil {
		return err
	}
	b.handle = 0
	return nil
}

// Usage returns the process's usage and live objects. It is zero on a closed Bridge.
func (b *Bridge) Usage() Usage {
	if b.use(stageCheck) != nil {
		return Usage{}
	}
	defer b.done()
	var c cUsage
	call(b.lib.usageNow, uintptr(unsafe.Pointer(&c)))
	return Usage{
		Compiles: c.compiles, Loaded: c.loaded, ProgramLimit: c.programLimit,
		Programs: c.programs, Surfaces: c.surfaces, Requests: c.requests, Identities: c.identities,
	}
}
