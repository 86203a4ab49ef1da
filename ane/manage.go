package ane

import (
	"context"
	"errors"
)

// Keeper is an Engine whose programs are kept by a process that others use too: it has a
// cache to empty and counters to read.
type Keeper interface {
	// Purge removes this client's programs from the cache, and tells how many they were
	// and their bytes. Loaded programs go on.
	Purge(ctx context.Context) (programs int, bytes int64, err error)
	// Counters returns facts about the process by name.
	Counters(ctx context.Context) (map[string]uint64, error)
}

// Purge removes the programs of this client from the engine's cache, so that the next
// Compile of each starts from the text. It returns how many they were and their bytes.
// Programs that are loaded go on. errors.ErrUnsupported for an engine without a cache of
// its own, which is every one but the broker.
func (d *Device) Purge(ctx context.Context) (programs int, bytes int64, err error) {
	d = d.orZero()
	k, err := d.keeper("purge")
	if err != nil {
		return 0, 0, err
	}
	return k.Purge(given(ctx))
}

// Counters returns what the engine's process counts, by name: requests, programs and
// surfaces of all its clients. errors.ErrUnsupported for an engine that is no broker.
func (d *Device) Counters(ctx context.Context) (map[string]uint64, error) {
	d = d.orZero()
	k, err := d.keeper("counters")
	if err != nil {
		return nil, err
	}
	return k.Counters(given(ctx))
}

// keeper is the engine, if it keeps programs.
func (d *Device) keeper(op string) (Keeper, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.engine == nil {
		return nil, &Error{Op: op, Engine: d.info.Name, Err: ErrClosed, Hint: "open the engine again"}
	}
	k, ok := d.engine.(Keeper)
	if !ok {
		return nil, &Error{Op: op, Engine: d.info.Name, Err: errors.ErrUnsupported, Detail: "the engine is in this process", Hint: "open the broker"}
	}
	return k, nil
}
