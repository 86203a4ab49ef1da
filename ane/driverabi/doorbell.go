package driverabi

// Doorbells is the number of doorbells: an index lies below it (text below listing
// 27.5).
const Doorbells = 32

// Doorbell is the mask, 1<<index, that rings a doorbell when it is stored into the
// engine's register aperture (listing 27.5). An index that is not below Doorbells is an
// *Error matching ErrRange.
func Doorbell(index uint32) (mask uint32, err error) {
	if index >= Doorbells {
		return 0, &Error{Structure: "doorbell index", Want: Doorbells - 1, Have: uint64(index), Err: ErrRange,
			Hint: "use an index from 0 to 31"}
	}
	return 1 << index, nil
}
