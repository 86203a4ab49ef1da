package nvme

import "fmt"

// Status is the status of a completion: its type in the bits 8 to 10, its code in the bits 0 to 7.
type Status uint16

// Generic command status (type 0), command specific status (1), and media errors (2).
const (
	Success            Status = 0x000
	InvalidOpcode      Status = 0x001
	InvalidField       Status = 0x002
	DataTransferError  Status = 0x004
	AbortRequested     Status = 0x007
	InvalidNamespace   Status = 0x00b
	PRPOffset          Status = 0x013
	WriteProtected     Status = 0x020 // of the namespace
	LBARange           Status = 0x080
	CompletionQueue    Status = 0x100 // of Create I/O Submission Queue: no such completion queue
	QueueIdentifier    Status = 0x101
	QueueSize          Status = 0x102
	WriteFault         Status = 0x280
	UnrecoveredReadErr Status = 0x281
)

// statusNames are the names of the constants.
func statusNames() map[Status]string {
	return map[Status]string{
		Success: "success", InvalidOpcode: "invalid opcode", InvalidField: "invalid field in the command",
		DataTransferError: "data transfer error", AbortRequested: "abort requested",
		InvalidNamespace: "invalid namespace", PRPOffset: "invalid offset in a PRP entry",
		LBARange: "block address out of range", CompletionQueue: "no such completion queue",
		QueueIdentifier: "invalid queue identifier", QueueSize: "invalid queue size",
		UnrecoveredReadErr: "unrecovered read error", WriteProtected: "the namespace is write protected",
		WriteFault: "write fault",
	}
}

// String is the name of the status with type and code.
func (s Status) String() string {
	name, known := statusNames()[s]
	if !known {
		name = "status"
	}
	return fmt.Sprintf("%s (type %d, code %#02x)", name, s>>8&7, uint8(s))
}

// Error makes a Status other than Success an error.
func (s Status) Error() string { return "NVMe: " + s.String() }
