package dma

import (
	"encoding/binary"
	"fmt"
	"time"
)

// extensionService is the name of the service in the registry of IOKit: the class of the driver extension.
const extensionService = "AnekitDMADriver"

// Numbers of dext/protocol.h.
const (
	protocolVersion = 1

	selectVersion  = 0 // out: 1 scalar
	selectPrepare  = 1 // in: request, out: reply
	selectComplete = 2 // in: 1 scalar
	selectAllocate = 3 // in: 1 scalar, out: reply

	directionInOut = 3 // the device reads and writes

	requestBytes = 24
	replyBytes   = 544
)

// request is AnekitDMARequest.
type request struct {
	Address   uint64 // of this process
	Length    uint64
	Direction uint32
	Reserved  uint32
}

func (r request) encode() []byte {
	b := make([]byte, 0, requestBytes)
	b = binary.LittleEndian.AppendUint64(b, r.Address)
	b = binary.LittleEndian.AppendUint64(b, r.Length)
	b = binary.LittleEndian.AppendUint32(b, r.Direction)
	return binary.LittleEndian.AppendUint32(b, r.Reserved)
}

// reply is AnekitDMAReply.
type reply struct {
	Command     uint64
	Covered     uint64
	Nanoseconds uint64
	Count       uint32
	Flags       uint32
	Segments    [MaxSegments]Segment
}

// longest is the most time that a reply may claim for its preparation.
const longest = 24 * time.Hour

// decode reads a reply, of which the extension says that it has n bytes. The error matches ErrDriver; then c is the
// command that the caller completes, if it is not 0.
func decode(b []byte, n int) (c Command, segments []Segment, took time.Duration, err error) {
	var r reply
	if n != replyBytes {
		return 0, nil, 0, fmt.Errorf("%w: a reply of %d bytes, not of %d", ErrDriver, n, replyBytes)
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &r); err != nil {
		return 0, nil, 0, fmt.Errorf("%w: %w", ErrDriver, err)
	}
	if r.Command == 0 {
		return 0, nil, 0, fmt.Errorf("%w: a reply without a command", ErrDriver)
	}
	if r.Count == 0 || r.Count > MaxSegments {
		return Command(r.Command), nil, 0, fmt.Errorf("%w: a reply with %d segments", ErrDriver, r.Count)
	}
	segments = append(segments, r.Segments[:r.Count]...)
	var sum uint64
	for _, s := range segments {
		sum += s.Length
	}
	if sum != r.Covered {
		return Command(r.Command), nil, 0, fmt.Errorf("%w: segments of %d bytes in a reply for %d", ErrDriver, sum,
			r.Covered)
	}
	if r.Nanoseconds > uint64(longest) {
		return Command(r.Command), nil, 0, fmt.Errorf("%w: a reply that took %d ns", ErrDriver, r.Nanoseconds)
	}
	return Command(r.Command), segments, time.Duration(r.Nanoseconds), nil
}
