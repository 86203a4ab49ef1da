package actor

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/models/decoder"
	linear "github.com/anekit/anekit/unimem/wasm"
)

// stateMagic begins the state of a guest, with the version of its format in the last byte. The length of the state's
// JSON follows, the JSON, and the extents of the memory, compressed.
const stateMagic = "anekit actor\x00\x04"

// maxState is the most bytes of a state: less than the note of a snapshot may have.
const maxState = 62 << 20

// maxNote is the longest note in bytes.
const maxNote = 64 << 10

// errCut: a state that ends too early, or whose numbers do not fit.
var errCut = errors.New("the guest's state is cut off or malformed")

// state is a guest between two calls.
type state struct {
	Sum          [sha256.Size]byte
	Interface    int // wasm.Version
	Ended        bool
	World        wasm.World
	Prompt, Said []int
	Note         []byte
	Globals      []uint64
	Size         int             // of the memory
	Extents      []linear.Extent // of the memory; the rest is zeros
	packed       []byte          // the extents, compressed
}

// state returns the guest's state, encoded. The caller holds mu.
func (a *Actor) state() ([]byte, error) {
	s := state{Sum: a.code.sum, Interface: wasm.Version, Ended: a.ended, World: a.guest.World(), Prompt: a.prompt,
		Said: a.said, Note: []byte(a.note)}
	for _, g := range a.code.globals {
		v := a.guest.Module().ExportedGlobal(g.export())
		if v == nil {
			return nil, fmt.Errorf("global %d is not exported", g.index)
		}
		s.Globals = append(s.Globals, v.Get())
	}
	mem, err := a.memory()
	if err != nil {
		return nil, err
	}
	s.Size = len(mem)
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	next := uint64(0) // ranges may overlap
	for _, r := range a.guest.Memory().Touched() {
		r.From = max(r.From, next)
		if r.From >= r.To {
			continue
		}
		s.Extents, next = append(s.Extents, r), r.To
		for part := range slices.Chunk(mem[r.From:r.To], 1<<20) {
			if _, err := w.Write(part); err != nil || packed.Len() > maxState {
				return nil, errors.Join(err, tooLarge(len(mem)))
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	head, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	b := slices.Concat(binary.AppendUvarint([]byte(stateMagic), uint64(len(head))), head, packed.Bytes())
	if len(b) > maxState {
		return nil, tooLarge(len(mem))
	}
	return b, nil
}

func tooLarge(memory int) error {
	return fmt.Errorf("the guest's memory of %d bytes takes more than the %d bytes that a snapshot has for it, compressed",
		memory, maxState)
}

// memory returns the memory that the guest has now; none for a guest without.
func (a *Actor) memory() ([]byte, error) {
	m := a.guest.Memory()
	return m.Range(0, uint64(m.Size()))
}

// Info is the content of a file of Freeze beside memory, keys and values.
type Info struct {
	Prompt, Said []int
	Taken        int    // tokens that the model has taken
	Note         string // of Config
}

// PeekFile reads the Info of a file of Freeze, which Thaw checks as a whole. Errors: ErrSnapshot, fs.ErrNotExist.
func PeekFile(path string) (Info, error) {
	const op = "peek"
	t, err := decoder.PeekFile(path)
	if err != nil {
		return Info{}, &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot, Cause: err}, Name: path}
	}
	s, err := decode(t.Extra)
	if err != nil {
		return Info{}, &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot, Cause: err}, Name: path}
	}
	return Info{s.Prompt, s.Said, len(t.Tokens()), string(s.Note)}, nil
}

// decode decodes a state.
func decode(extra []byte) (*state, error) {
	const magic = len(stateMagic) - 1
	switch {
	case len(extra) == 0:
		return nil, errors.New("it has no guest")
	case len(extra) <= magic || string(extra[:magic]) != stateMagic[:magic]:
		return nil, errors.New("its bytes beside the tokens are not a guest")
	case extra[magic] != stateMagic[magic]:
		return nil, fmt.Errorf("it has version %d of the format, this program reads %d", extra[magic], stateMagic[magic])
	}
	rest := extra[len(stateMagic):]
	n, used := binary.Uvarint(rest)
	if used <= 0 || n > uint64(len(rest)-used) {
		return nil, errCut
	}
	s := &state{packed: rest[used+int(n):]}
	if err := json.Unmarshal(rest[used:][:n], s); err != nil {
		return nil, errors.Join(errCut, err)
	}
	negative := func(id int) bool { return id < 0 }
	if s.Size < 0 || s.Size > 1<<32 || slices.ContainsFunc(s.Prompt, negative) || slices.ContainsFunc(s.Said, negative) {
		return nil, errCut
	}
	return s, nil
}

// read decodes a state and compares it with the guest.
func (c *Code) read(extra []byte) (*state, error) {
	s, err := decode(extra)
	switch {
	case err != nil:
		return nil, err
	case s.Interface != wasm.Version:
		return nil, fmt.Errorf("its guest ran with version %d of the module anekit, this is %d", s.Interface, wasm.Version)
	case s.Sum != c.sum:
		return nil, fmt.Errorf("its guest has SHA-256 %x, this guest %x; thaw it with the guest that was frozen", s.Sum,
			c.sum)
	case len(s.Globals) != len(c.globals):
		return nil, errCut
	}
	return s, nil
}

// install makes a the actor of a state, right after its guest was instantiated.
func (a *Actor) install(op, path string, extra []byte) error {
	s, err := a.code.read(extra)
	if err == nil {
		err = a.restore(s)
	}
	if err != nil {
		return &Error{Base: errtext.Base{Op: op, Err: ErrSnapshot, Cause: err}, Name: path}
	}
	return nil
}

// restore gives the guest the memory, the globals and the World of s.
func (a *Actor) restore(s *state) error {
	m, module := a.guest.Memory(), a.guest.Module()
	grow := s.Size - m.Size()
	if grow < 0 || grow%linear.PageSize != 0 {
		return fmt.Errorf("its memory has %d bytes, the guest begins with %d", s.Size, m.Size())
	}
	if s.Size > m.Reserved() {
		return fmt.Errorf("its memory has %d bytes, the limit is %d; raise Limits.Memory, which is --guest-memory of "+
			"actor thaw", s.Size, m.Reserved())
	}
	if grow > 0 {
		module.Memory().Grow(uint32(grow / linear.PageSize))
	}
	mem, err := a.memory()
	if err != nil {
		return err
	}
	for _, r := range m.Touched() {
		clear(mem[r.From:r.To])
	}
	in := flate.NewReader(bytes.NewReader(s.packed))
	next := uint64(0)
	for _, r := range s.Extents {
		if r.From < next || r.To < r.From || r.To > uint64(len(mem)) {
			return fmt.Errorf("%w: bytes %d to %d of the memory", errCut, r.From, r.To)
		}
		if _, err := io.ReadFull(in, mem[r.From:r.To]); err != nil {
			return errors.Join(errCut, err)
		}
		next = r.To
	}
	if _, err := io.ReadFull(in, make([]byte, 1)); err != io.EOF {
		return errCut
	}
	for i, g := range a.code.globals {
		v, ok := module.ExportedGlobal(g.export()).(api.MutableGlobal)
		if !ok {
			return fmt.Errorf("global %d cannot be set", g.index)
		}
		v.Set(s.Globals[i])
	}
	a.guest.SetWorld(s.World)
	a.prompt, a.said, a.ended = s.Prompt, s.Said, s.Ended
	a.note = cmp.Or(a.note, string(s.Note))
	return nil
}
