package ane

import (
	"encoding/json"
	"os"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// ShareTensor returns what another process needs to use the tensor: a new descriptor of its memory and a header with
// the layout. The caller sends both in a message and then closes the descriptor. AdoptTensor makes a tensor of both.
//
// The descriptor grants access to the whole Block: the other process can read and write all of it, including other
// cells and spans. The caller cannot revoke it. The error is ErrStale if the memory is closed; other errors are those
// of unimem.Block.Share, such as unimem.ErrShare for heap memory.
func ShareTensor(t *Tensor) (memory *os.File, header []byte, err error) {
	t = orZero(t)
	if _, err := t.bytes("share"); err != nil {
		return nil, nil, err
	}
	l := t.layout
	header, err = json.Marshal(sharedTensor{Layout: l, DType: l.DType.String(), At: t.offset, Size: t.size})
	if err != nil {
		return nil, nil, &Error{Op: "share", Name: l.Name, Err: err}
	}
	memory, err = t.block.Share()
	if err != nil {
		return nil, nil, &Error{Op: "share", Name: l.Name, Err: err}
	}
	return memory, header, nil
}

// AdoptTensor makes a tensor from the results of ShareTensor, in another process or in
// the same one. Both tensors share the same bytes; the processes have to synchronize
// their accesses. The caller owns the tensor's Block and closes it: t.Block().Close().
// The caller also keeps ownership of memory and may close it at once. opts are options of
// unimem.Adopt.
//
// AdoptTensor does not trust the sharing process. Errors: ErrShape, ErrType, ErrOffset and ErrLength (an invalid
// header), ErrShort (memory that is too short), and those of unimem.Adopt (memory that is too short or of another
// kind).
func AdoptTensor(memory *os.File, header []byte, opts ...unimem.Option) (*Tensor, error) {
	var s sharedTensor
	if err := json.Unmarshal(header, &s); err != nil {
		return nil, &Error{Op: "adopt", Err: Because(ErrLength, err), Detail: "not a header of ShareTensor"}
	}
	l := s.Layout
	l.DType = mil.ParseDType(s.DType)
	if err := l.Check(); err != nil {
		return nil, err
	}
	if s.At < 0 || s.At > MaxBytes || s.At%l.DType.Size() != 0 {
		return nil, &Error{Op: "adopt", Name: l.Name, Err: ErrOffset, Detail: "the header's offset is out of range"}
	}
	if s.Size < l.extent() || s.Size > l.Bytes() {
		return nil, &Error{Op: "adopt", Name: l.Name, Err: ErrShort,
			Detail: "the header's size does not fit its layout"}
	}
	b, err := unimem.Adopt(memory, s.At+s.Size, opts...)
	if err != nil {
		return nil, &Error{Op: "adopt", Name: l.Name, Err: err}
	}
	return &Tensor{layout: l, block: b, offset: s.At, at: s.At, size: s.Size}, nil
}

// sharedTensor is the header, in JSON.
type sharedTensor struct {
	Layout
	DType string // its name, where the Layout has a number
	At    int    // of the first byte in the Block
	Size  int
}
