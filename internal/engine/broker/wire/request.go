package wire

// Surface registers the memory of a Block; its memfd is the frame's one descriptor.
type Surface struct {
	ID    uint32 // the client's Block.ID, for logs
	Size  uint64 `max:"bytes"` // bytes, as Block.Size
	Token uint32 // the number by which this connection will name it, chosen by the client
}

// Drop forgets a surface.
type Drop struct{ Token uint32 }

// Bind ties surfaces to a program, in the order of its inputs and outputs.
type Bind struct {
	Program uint32
	In, Out []Port `max:"tensors"`
}

// Port is where one tensor stands.
type Port struct {
	Surface uint32 // token
	Offset  uint64 `max:"bytes"` // bytes; 0 unless the engine says that it takes offsets
}

// Bound answers Bind.
type Bound struct{ Request uint32 }

// Unbind frees a request.
type Unbind struct{ Request uint32 }

// Evaluate runs a request.
type Evaluate struct {
	Request  uint32
	QoS      uint32 // in Apple's numbers; 0 for the one of Load
	Sequence uint64 // chosen by the client, for Cancel
	Deadline uint64 // nanoseconds from now; 0 for none
}

// Chain runs requests one after another: one submission, and one answer when the last one
// has run or the first one failed. Later requests read what earlier ones wrote.
type Chain struct {
	Sequence uint64 // chosen by the client, for Cancel
	Deadline uint64 // nanoseconds from now, for all; 0 for none
	Steps    []Step `max:"steps"`
}

// Step is one request of a Chain; a request may come again.
type Step struct {
	Request uint32
	QoS     uint32 // in Apple's numbers; 0 for the one of Load
}

// Done answers Evaluate, or Chain, when it succeeded.
type Done struct {
	Sequence uint64
	Status   uint32 // the driver's return code: 0
}

// Cancel takes an Evaluate or a Chain out of the queue or stops it. That is answered all the
// same.
type Cancel struct{ Sequence uint64 }

// Cancelled answers Cancel.
type Cancelled struct {
	Sequence uint64
	State    CancelState `max:"state"`
}

// CancelState is what Cancel found.
type CancelState uint32

// What Cancel may find.
const (
	CancelMissed  CancelState = iota // nothing of this sequence: finished, or never seen
	CancelQueued                     // it was waiting and is out of the queue
	CancelRunning                    // it was running and is being stopped
	cancelStates
)
