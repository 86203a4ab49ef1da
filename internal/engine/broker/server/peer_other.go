//go:build !linux || macrules

package server

import "context"

// identify answers ane.ErrUnavailable: there is no broker here to be admitted to.
func identify(context.Context, int, *hashes) (Identity, int, error) {
	return Identity{}, 0, unavailable("admit")
}

// startOf answers ane.ErrUnavailable.
func startOf(int) (uint64, error) { return 0, unavailable("admit") }

// runs is never asked: no client is admitted here.
func runs(int, hashKey) bool { return false }

// callerOf is nothing.
func callerOf(int) caller { return caller{} }

// hashes is what identify remembers where it works.
type hashes struct{}
