package unimem

import "math"

// CreateError returns the error of a failed system call.
func CreateError(op, step string, size int, err error) error { return createError(op, step, size, err) }

// RoomOfGroups is the least room of control groups, math.MaxUint64 without a limit.
func RoomOfGroups(list, root string) uint64 {
	least := uint64(math.MaxUint64)
	for _, r := range (groups{list, root}).rooms() {
		least = min(least, r.free)
	}
	return least
}
