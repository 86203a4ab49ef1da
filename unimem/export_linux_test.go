//go:build !macrules

package unimem

import "math"

// CreateError returns the error of a failed system call.
func CreateError(op, step string, size int, err error) error { return createError(op, step, size, err) }

// RoomOfGroups is the least room of control groups for a heap that uses held bytes, math.MaxUint64 without a limit.
func RoomOfGroups(list, root string, held uint64) uint64 {
	least := uint64(math.MaxUint64)
	for _, r := range (groups{list, root, held}).rooms() {
		least = min(least, r.free)
	}
	return least
}
