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
	CreateSQ     = 0x01
	CreateCQ     = 0x05
	Identify     = 0x06
	AbortCommand = 0x08
	SetFeatures  = 0x09
	numberQueues = 0x07 // a feature
	cnsNamespace = 0x00 // what Identify describes
)

// Opcodes of I/O.
const (
	Flush = 0x00
	Write = 0x01
	Read  = 0x02
)

// Command is an entry of a submission queue. Fields that no command here has are 0.
type Command struct {
	Opcode    uint8
	Flags     uint8 // 0: not fused, and Data has PRP entries
	ID        uint16
	Namespace uint32
	Data      [16]byte  // two PRP entries
	Words     [6]uint32 // command words 10 to 15
}

// Encode writes the entry to b.
func (c Command) Encode(b *[CommandSize]byte) {
	*b = [CommandSize]byte{0: c.Opcode, 1: c.Flags}
	le.PutUint16(b[2:], c.ID)
	le.PutUint32(b[4:], c.Namespace)
	copy(b[24:], c.Data[:])
	for i, w := range c.Words {
		le.PutUint32(b[40+4*i:], w)
	}
}

// Decode reads an entry.
func (c *Command) Decode(b *[CommandSize]byte) {
	*c = Command{Opcode: b[0], Flags: b[1], ID: le.Uint16(b[2:]), Namespace: le.Uint32(b[4:])}
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
