package actor

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/models/decoder"
	linear "github.com/anekit/anekit/unimem/wasm"
)

// stateMagic begins the state of a guest, with the version of its format in the last byte.
const stateMagic = "anekit actor\x00\x03"

// block is the unit in which memory is stored; blocks of zeros are left out.
const block = 4096

// maxState is the most bytes of a state: less than the note of a snapshot may have.
const maxState = 62 << 20

// maxNote is the longest note in bytes.
const maxNote = 64 << 10

// errCut: a state that ends too early, or whose lengths do not fit.
var errCut = errors.New("the guest's state is cut off or malformed")

// state is a guest between two calls.
type state struct {
	sum              [sha256.Size]byte
	interfaceVersion int
	ended            bool
	world            wasm.World
	prompt, said     []int
	note             string
	globals          []uint64
	size             int    // of the memory
	memory           []byte // its blocks, compressed
}

// state returns the guest's state, encoded. The caller holds mu.
func (a *Actor) state() ([]byte, error) {
	b := append([]byte(stateMagic), a.code.sum[:]...)
	b = binary.AppendUvarint(b, wasm.Version)
	ended := uint64(0)
	if a.ended {
		ended = 1
	}
	b = binary.AppendUvarint(b, ended)
	world := a.guest.World()
	for _, v := range []uint64{world.Random, world.Wall, world.Monotonic, uint64(world.Handle)} {
		b = binary.AppendUvarint(b, v)
	}
	for _, tokens := range [][]int{a.prompt, a.said} {
		b = binary.AppendUvarint(b, uint64(len(tokens)))
		for _, id := range tokens {
			b = binary.AppendUvarint(b, uint64(id))
		}
	}
	for _, text := range []string{a.note, world.Failure} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	b = binary.AppendUvarint(b, uint64(len(a.code.globals)))
	for _, g := range a.code.globals {
		v := a.guest.Module().ExportedGlobal(g.export())
		if v == nil {
			return nil, fmt.Errorf("global %d is not exported", g.index)
		}
		b = binary.LittleEndian.AppendUint64(b, v.Get())
	}
	mem, err := memoryOf(a)
	if err != nil {
		return nil, err
	}
	b = binary.AppendUvarint(b, uint64(len(mem)))
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	var zero [block]byte
	next := 0 // ranges may overlap
	for _, r := range a.guest.Memory().Touched() {
		for next = max(next, int(r.From)); next < int(r.To) && packed.Len() <= maxState; next += block {
			part := mem[next : next+block]
			if bytes.Equal(part, zero[:]) {
				continue
			}
			head := binary.AppendUvarint(nil, uint64(next/block)+1)
			if _, err := w.Write(append(head, part...)); err != nil {
				return nil, err
			}
		}
	}
	if _, err := w.Write([]byte{0}); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if len(b)+packed.Len() > maxState {
		return nil, fmt.Errorf("the guest's memory of %d bytes takes more than the %d bytes that a snapshot "+
			"has for it, compressed", len(mem), maxState)
	}
	return append(b, packed.Bytes()...), nil
}

// memoryOf returns the memory that an actor's guest has now; none for a guest without.
func memoryOf(a *Actor) ([]byte, error) {
	m := a.guest.Memory()
	if m.Block() == nil {
		return nil, nil
	}
	return m.Range(0, uint64(m.Size()))
}

// read decodes a state and compares it with the guest.
func (c *Code) read(op, path string, extra []byte) (*state, error) {
	s, err := decode(op, path, extra)
	if err != nil {
		return nil, err
	}
	if why := c.differs(s); why != "" {
		return nil, &Error{Op: op, Name: path, Err: ErrSnapshot, Detail: why,
			Hint: "thaw it with the guest that was frozen"}
	}
	return s, nil
}

// Info is the content of a file of Freeze beside memory, keys and values.
type Info struct {
	Sum          [sha256.Size]byte // of the guest's binary
	Prompt, Said []int
	Taken        int    // tokens that the model has taken
	Note         string // of Config
}

// PeekFile reads the Info of a file of Freeze, which Thaw checks as a whole. Errors: ErrSnapshot, fs.ErrNotExist.
func PeekFile(path string) (Info, error) {
	const op = "peek"
	t, err := decoder.PeekFile(path)
	if err != nil {
		return Info{}, &Error{Op: op, Name: path, Err: ErrSnapshot, Cause: err}
	}
	s, err := decode(op, path, t.Extra)
	if err != nil {
		return Info{}, err
	}
	return Info{s.sum, s.prompt, s.said, len(t.Tokens()), s.note}, nil
}

// decode decodes a state.
func decode(op, path string, extra []byte) (*state, error) {
	refuse := func(format string, args ...any) error {
		return &Error{Op: op, Name: path, Err: ErrSnapshot, Detail: fmt.Sprintf(format, args...)}
	}
	const magic = len(stateMagic) - 1
	switch {
	case len(extra) == 0:
		return nil, refuse("it has no guest")
	case len(extra) < len(stateMagic)+sha256.Size || string(extra[:magic]) != stateMagic[:magic]:
		return nil, refuse("its bytes beside the tokens are not a guest")
	case extra[magic] != stateMagic[magic]:
		return nil, refuse("it has version %d of the format, this program reads %d", extra[magic], stateMagic[magic])
	}
	s := &state{}
	in := bytes.NewReader(extra[len(stateMagic):])
	_, err := io.ReadFull(in, s.sum[:])
	number := func(most int) int {
		n, fault := binary.ReadUvarint(in)
		if fault != nil || n > uint64(most) {
			err = errors.Join(err, errCut)
			return 0
		}
		return int(n)
	}
	s.interfaceVersion = number(1 << 30)
	s.ended = number(1) == 1
	for _, v := range []*uint64{&s.world.Random, &s.world.Wall, &s.world.Monotonic} {
		*v = uint64(number(math.MaxInt))
	}
	s.world.Handle = int32(number(math.MaxInt32))
	for _, tokens := range []*[]int{&s.prompt, &s.said} {
		for range number(in.Len()) {
			*tokens = append(*tokens, number(1<<31-1))
		}
	}
	for _, text := range []*string{&s.note, &s.world.Failure} {
		b := make([]byte, number(min(in.Len(), maxNote)))
		_, fault := io.ReadFull(in, b)
		err = errors.Join(err, fault)
		*text = string(b)
	}
	s.globals = make([]uint64, number(in.Len()/8))
	for i := range s.globals {
		var v [8]byte
		_, fault := io.ReadFull(in, v[:])
		err = errors.Join(err, fault)
		s.globals[i] = binary.LittleEndian.Uint64(v[:])
	}
	s.size = number(1 << 32)
	if err != nil {
		return nil, refuse("its guest is truncated")
	}
	s.memory = extra[len(extra)-in.Len():]
	return s, nil
}

// install makes a the actor of s, right after its guest was instantiated.
func (s *state) install(op, path string, a *Actor) error {
	bad := func(err error) error { return &Error{Op: op, Name: path, Err: ErrSnapshot, Cause: err} }
	m := a.guest.Memory()
	if grow := s.size - m.Size(); grow < 0 || grow%linear.PageSize != 0 || grow > 0 && m.Block() == nil {
		return bad(fmt.Errorf("its memory has %d bytes, the guest begins with %d", s.size, m.Size()))
	} else if grow > 0 {
		if _, ok := a.guest.Module().Memory().Grow(uint32(grow / linear.PageSize)); !ok {
			return &Error{Op: op, Name: path, Err: ErrSnapshot,
				Detail: fmt.Sprintf("its memory has %d bytes, the limit is %d", s.size, m.Reserved()),
				Hint:   "raise Limits.Memory, which is --guest-memory of actor thaw"}
		}
	}
	mem, err := memoryOf(a)
	if err != nil {
		return bad(err)
	}
	for _, r := range m.Touched() {
		clear(mem[r.From:r.To])
	}
	if err := unpack(mem, s.memory); err != nil {
		return bad(err)
	}
	for i, g := range a.code.globals {
		v, ok := a.guest.Module().ExportedGlobal(g.export()).(api.MutableGlobal)
		if !ok {
			return bad(fmt.Errorf("global %d cannot be set", g.index))
		}
		v.Set(s.globals[i])
	}
	a.guest.SetWorld(s.world)
	a.prompt, a.said, a.ended = s.prompt, s.said, s.ended
	if a.note == "" {
		a.note = s.note
	}
	return nil
}

// unpack writes the compressed blocks to mem.
func unpack(mem, packed []byte) error {
	in := flateReader{flate.NewReader(bytes.NewReader(packed))}
	next := 0 // the first block that may follow
	for {
		n, err := binary.ReadUvarint(in)
		if err != nil {
			return errors.Join(errCut, err)
		}
		if n == 0 {
			return nil
		}
		if n-1 < uint64(next) || n-1 >= uint64(len(mem)/block) {
			return fmt.Errorf("%w: block %d of the memory", errCut, n-1)
		}
		at := int(n-1) * block
		if _, err := io.ReadFull(in, mem[at:at+block]); err != nil {
			return errors.Join(errCut, err)
		}
		next = int(n)
	}
}

// flateReader reads single bytes.
type flateReader struct{ io.Reader }

// ReadByte implements io.ByteReader.
func (r flateReader) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r.Reader, b[:])
	return b[0], err
}
