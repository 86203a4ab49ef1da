package nvme

import "encoding/binary"

var le = binary.LittleEndian

// Sizes of queue entries in bytes.
const (
	CommandSize    = 64
	CompletionSize = 16
)

// Opcodes of administration.
const (
	DeleteSQ      = 0x00
	CreateSQ      = 0x01
	DeleteCQ      = 0x04
	CreateCQ      = 0x05
	Identify      = 0x06
	AbortCommand  = 0x08
	SetFeatures   = 0x09
	EventRequest  = 0x0c
	numberQueues  = 0x07 // a feature
	cnsNamespace  = 0x00
	cnsController = 0x01
	cnsActive     = 0x02
)

// Opcodes of I/O.
const (
	Flush = 0x00
	Write = 0x01
	Read  = 0x02
)

// forceUnit is the bit FUA of word 12: a write is on the media when it completes.
const forceUnit = 1 << 30

// Values of Command.Pointer, the field PSDT.
const (
	PRP = 0
	SGL = 1
)

// Command is an entry of a submission queue. Fields that no command here has are 0.
type Command struct {
	Opcode    uint8
	Fused     uint8 // 0
	Pointer   uint8 // what Data has: PRP or SGL
	ID        uint16
	Namespace uint32
	Data      [16]byte  // two PRP entries or one SGL descriptor
	Words     [6]uint32 // command words 10 to 15
}

// Encode writes the entry to b.
func (c Command) Encode(b *[CommandSize]byte) {
	*b = [CommandSize]byte{0: c.Opcode, 1: c.Fused&3 | c.Pointer<<6}
	le.PutUint16(b[2:], c.ID)
	le.PutUint32(b[4:], c.Namespace)
	copy(b[24:], c.Data[:])
	for i, w := range c.Words {
		le.PutUint32(b[40+4*i:], w)
	}
}

// Decode reads an entry.
func (c *Command) Decode(b *[CommandSize]byte) {
	*c = Command{Opcode: b[0], Fused: b[1] & 3, Pointer: b[1] >> 6, ID: le.Uint16(b[2:]), Namespace: le.Uint32(b[4:])}
	copy(c.Data[:], b[24:])
	for i := range c.Words {
		c.Words[i] = le.Uint32(b[40+4*i:])
	}
}

// Completion is an entry of a completion queue.
type Completion struct {
	Result uint32 // of the command
	Head   uint16 // of the submission queue
	Queue  uint16 // the submission queue
	ID     uint16 // of the command
	Phase  bool
	Status Status
	Final  bool // the same command would fail again
}

// Encode writes the entry to b.
func (c Completion) Encode(b *[CompletionSize]byte) {
	*b = [CompletionSize]byte{}
	le.PutUint32(b[0:], c.Result)
	le.PutUint16(b[8:], c.Head)
	le.PutUint16(b[10:], c.Queue)
	le.PutUint16(b[12:], c.ID)
	s := uint16(c.Status) & 0x7ff << 1
	if c.Phase {
		s |= 1
	}
	if c.Final {
		s |= 1 << 15
	}
	le.PutUint16(b[14:], s)
}

// Decode reads an entry.
func (c *Completion) Decode(b *[CompletionSize]byte) {
	s := le.Uint16(b[14:])
	*c = Completion{Result: le.Uint32(b[0:]), Head: le.Uint16(b[8:]), Queue: le.Uint16(b[10:]), ID: le.Uint16(b[12:]),
		Phase: s&1 == 1, Status: Status(s >> 1 & 0x7ff), Final: s>>15 == 1}
}
