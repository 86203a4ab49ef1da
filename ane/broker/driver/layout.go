package driver

// Flags of a send-request.
const (
	// RunInline asks for the run on the caller's goroutine when nothing else runs
	// or waits. Ours.
	RunInline uint32 = 1 << 0
)

// Flags of ANE_ProgramCreateInstance.
const (
	PowerSaving    uint32 = 1 << 0 // runs one level lower. Ours.
	MoreAggressive uint32 = 1 << 1 // runs at the lowest level; restricted tier only. Ours.
	KeepWired      uint32 = 1 << 2 // opt out of memory unwiring. Ours.
)

// Status is the flag at +0x20 of the answer to a send-request.
const (
	StatusQueued   = 0 // a completion will come. Ours.
	StatusFinished = 8 // statusType "finished" of Apple's evaluate path
	StatusFailed   = 9 // statusType on errors
)
