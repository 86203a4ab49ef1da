package wire

// Limits of a frame.
const (
	// MaxPayload bounds a payload inside a frame: two frames fit into the smallest
	// default buffer of a Linux socket (212992 bytes, net.core.wmem_default).
	MaxPayload = 64 << 10
	// MaxFrame is the longest packet, and the length of a buffer that takes every frame.
	MaxFrame = HeaderSize + MaxPayload
	// MaxDescriptors bounds the descriptors beside a frame; Linux takes 253 (SCM_MAX_FD).
	MaxDescriptors = 16
	// MaxLong bounds a payload that travels in a memfd.
	MaxLong = 16 << 20
)

// Limits of what payloads hold.
const (
	MaxName     = 1 << 10  // bytes of a name: tensor, tier, entitlement
	MaxPath     = 4 << 10  // bytes of a path: PATH_MAX of Linux
	MaxText     = 16 << 10 // bytes of a text for people: note, message, hint
	MaxTensors  = 256      // inputs or outputs of a program
	MaxWeights  = 4 << 10  // weight files of a program
	MaxNotes    = 1 << 10  // remarks of a compile
	MaxLines    = 4 << 10  // faults that a compile finds in one program
	MaxFaults   = 2 * MaxTensors
	MaxCauses   = 16  // sentinels that one error matches
	MaxCounters = 256 // counters of a Stats
	// MaxBytes bounds a size, offset or stride: ane.MaxBytes.
	MaxBytes = 1 << 40
	// MaxQueueDepth is the driver's limit of requests in flight.
	MaxQueueDepth = 127
)
