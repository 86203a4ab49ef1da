package ane

import (
	"encoding/json"
	"os"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// ShareTensor returns what another process needs to use the tensor: a new descriptor of
// its memory, which the caller sends to the other process and then closes, and a header
// with the layout, for a message. AdoptTensor makes a tensor of both.
//
// The descriptor grants access to the whole Block: the other process can read and write
// all of it, including other cells and spans, and this cannot be revoked. The error is
// ErrStale if the memory is closed; other errors are those of unimem.Block.Share, such as
// unimem.ErrShare for heap memory.
func ShareTensor(t *Tensor) (memory *os.File, header []byte, err error) {
	t = orZero(t)
	if _, err := t.bytes("share"); err != nil {
		return nil, nil, err
	}
	l := t.layout
	header, err = json.Marshal(sharedTensor{
		Name: l.Name, DType: l.DType.String(), Shape: l.Shape,
		Lengths: [MaxRank]int{l.Batches, l.Depth, l.Channels, l.Height, l.Width},
		Strides: [MaxRank - 1]int{l.BatchStride, l.DepthStride, l.PlaneStride, l.RowStride},
		Offset:  t.offset, Size: t.size,
	})
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
// AdoptTensor does not trust the sharing process. For an invalid header the error matches
// ErrShape, ErrType, ErrOffset or ErrLength; for memory that is too short, ErrShort or an
// error of unimem.Adopt; for memory of another kind, an error of unimem.Adopt.
func AdoptTensor(memory *os.File, header []byte, opts ...unimem.Option) (*Tensor, error) {
	var s sharedTensor
	if err := json.Unmarshal(header, &s); err != nil {
		return nil, &Error{Op: "adopt", Err: Because(ErrLength, err), Detail: "not a header of ShareTensor"}
	}
	l, err := s.layout()
	if err != nil {
		return nil, err
	}
	if s.Offset < 0 || s.Offset > MaxBytes || s.Offset%l.DType.Size() != 0 {
		return nil, &Error{Op: "adopt", Name: s.Name, Err: ErrOffset, Detail: "the header's offset is out of range"}
	}
	if s.Size < l.extent() || s.Size > l.Bytes() {
		return nil, &Error{Op: "adopt", Name: s.Name, Err: ErrShort,
			Detail: "the header's size does not fit its layout"}
	}
	b, err := unimem.Adopt(memory, s.Offset+s.Size, opts...)
	if err != nil {
		return nil, &Error{Op: "adopt", Name: s.Name, Err: err}
	}
	return &Tensor{layout: l, block: b, offset: s.Offset, at: s.Offset, size: s.Size}, nil
}

// sharedTensor is the header, in JSON.
type sharedTensor struct {
	Name    string           `json:"name"`
	DType   string           `json:"dtype"`
	Shape   []int            `json:"shape"`
	Lengths [MaxRank]int     `json:"ndchw"`
	Strides [MaxRank - 1]int `json:"strides"` // bytes of N, D, C, H
	Offset  int              `json:"offset"`
	Size    int              `json:"size"`
}

// layout returns the header's layout after checking it.
func (s *sharedTensor) layout() (Layout, error) {
	l := Layout{
		Name: s.Name, Shape: s.Shape,
		Batches: s.Lengths[axisN], Depth: s.Lengths[axisD], Channels: s.Lengths[axisC], Height: s.Lengths[axisH],
		Width:       s.Lengths[axisW],
		BatchStride: s.Strides[axisN], DepthStride: s.Strides[axisD], PlaneStride: s.Strides[axisC],
		RowStride: s.Strides[axisH],
	}
	for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Bool, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32,
		mil.UInt32} {
		if d.String() == s.DType {
			l.DType = d
			return l, l.Check()
		}
	}
	return Layout{}, &Error{Op: "adopt", Name: s.Name, Err: ErrType, Detail: "type " + s.DType,
		Hint: "share it from a process of the same version"}
}
