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

// The way back, from the engine to the host (text below table 27.6): the firmware
// clears PostedWriteBit of PostedWriteRegister, stores into the host's register, reads
// the status and sets the bit again, all with interrupts disabled.
const (
	PostedWriteRegister  = "S3_3_C15_C8_0" // AArch64, implementation defined
	PostedWriteBit       = 39              // clear: the posted-write window is open
	CacheErrorBit        = 1               // status: uncorrectable cache error
	TransactionRejectBit = 7               // status: transaction rejected
)

// StoreFailed tells from the status that the firmware reads back what went wrong with
// its store.
func StoreFailed(status uint64) (cacheError, rejected bool) {
	return status>>CacheErrorBit&1 == 1, status>>TransactionRejectBit&1 == 1
}
