package objcbridge

// Weight is a file that a MIL text names. The bridge reads Data in place until Program.Close, so
// Data must not change or be unmapped before.
type Weight struct {
	Path string // path in the text:  "@model_path/weights/weight.bin"
	Data []byte
}

// Binding binds a surface to a symbol.
type Binding struct {
	Surface *Surface
	Index   int // of the symbol, 0 to 254
	Bytes   int // bytes that the symbol needs; a shorter surface is rejected with ReasonShort
}

// Folders are the folders for temporary files. A framework that verifies, 382.11 of macOS 27 and later, compiles only
// programs whose files are in the user's folder.
type Folders struct {
	Process  string // of this process, where the framework puts programs' files; TMPDIR changes it
	User     string // DARWIN_USER_TEMP_DIR; empty if the system has none
	Foreign  bool   // Process is another folder than User
	Verifies bool   // the framework compares a program's files with their hashes
}

// Facts are the framework's facts about a program.
type Facts struct {
	State        uint64 `json:"state"`                    // the framework's state; unloading does not reset it
	QueueDepth   int    `json:"queueDepth"`               // asynchronous runs that may be in flight
	Intermediate uint64 `json:"intermediateBufferHandle"` // handle of the intermediate buffer; 0 for small programs
	PerfStats    uint32 `json:"perfStatsMask"`            // the mask of performance statistics
	Identity     string `json:"-"`                        // the key of its cache entry and the name of its directory
	Path         string `json:"-"`                        // path of its directory of files
	Handle       uint64 `json:"-"`                        // the driver's handle; 0 if not loaded
	Loaded       bool   `json:"-"`                        // in the bridge's records
	Recovered    *Error `json:"-"`                        // of the first try of the last load, which then succeeded; or nil
}

// Residency says whether the memory of a loaded program may be paged out. The numbers are those of enum
// aneb_residency in src/bridge.h.
type Residency int32

// The residencies.
const (
	ResidencyDefault Residency = iota // the framework's choice
	ResidencyWired
	ResidencyPageable
)
