package ane

import "context"

// Keeper is an Engine in a process shared with other clients, which has a cache of
// programs and counters.
type Keeper interface {
	// Purge removes this client's programs from the cache, and returns their number
	// and their bytes. Loaded programs continue to work.
	Purge(ctx context.Context) (programs int, bytes int64, err error)
	// Counters returns counters of the process by name.
	Counters(ctx context.Context) (map[string]uint64, error)
}

// Purge removes the programs of this client from the engine's cache, so that the next
// Compile of each compiles its text again. It returns their number and their bytes.
// Loaded programs continue to work. The error is errors.ErrUnsupported for every engine
// except the broker.
func (d *Device) Purge(ctx context.Context) (programs int, bytes int64, err error) {
	k, err := keeper(d, "purge")
	if err != nil {
		return 0, 0, err
	}
	return k.Purge(given(ctx))
}

// Counters returns the counters of the engine's process by name: requests, programs and
// surfaces of all its clients. The error is errors.ErrUnsupported for every engine except
// the broker.
func (d *Device) Counters(ctx context.Context) (map[string]uint64, error) {
	k, err := keeper(d, "counters")
	if err != nil {
		return nil, err
	}
	return k.Counters(given(ctx))
}

func keeper(d *Device, op string) (Keeper, error) {
	return offered[Keeper](orZero(d), op, "the engine is in this process", "open the broker")
}
