package dlpack

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// Errors of Import, beside those of package ane; all are wrapped in an *ane.Error.
var (
	// ErrVersion: a major version other than 1, or flags that this package does not know.
	ErrVersion = errors.New("unknown version of the format")
	// ErrDevice: memory that the CPU cannot access.
	ErrDevice = errors.New("memory of another device")
	// ErrPointer: an address that is nil, misaligned, or past the end of the address space.
	ErrPointer = errors.New("impossible address")
)

// Import returns a tensor on the memory of m and takes ownership of m, also if it fails. The caller owns the tensor's
// Block, whose Close calls the deleter: t.Block().Close(). m must not be used afterwards. The flag FlagReadOnly becomes
// Block().ReadOnly(). Import trusts the producer: an address in m that is mapped nowhere faults.
//
// Errors: ErrPointer, ErrVersion, ErrDevice, ane.ErrType, ane.ErrShape, ane.ErrAligned (the first element is not at a
// multiple of the element's size), ane.ErrUnavailable.
func Import(m *ManagedTensorVersioned) (*ane.Tensor, error) {
	if err := plausible(m.Address()); err != nil {
		return nil, err
	}
	deleter, self, flags := m.Deleter, m.Address(), m.Flags
	var err error
	switch {
	case m.Version.Major != Major:
		err = refused(ErrVersion, "have the producer export version 1",
			"version %d.%d, known is %d.%d", m.Version.Major, m.Version.Minor, Major, Minor)
	case flags&^(FlagReadOnly|FlagCopied|FlagSubBytePadded) != 0:
		err = refused(ErrVersion, "have the producer export version 1.3",
			"version %d.%d with flags %#x", m.Version.Major, m.Version.Minor, flags)
	default:
		return m.Tensor.adopt(deleter, self, flags&FlagReadOnly != 0)
	}
	process.delete(deleter, self)
	return nil, err
}

// ImportLegacy is Import for the format before 1.0. Errors are those of Import.
func ImportLegacy(m *ManagedTensor) (*ane.Tensor, error) {
	if err := plausible(m.Address()); err != nil {
		return nil, err
	}
	return m.Tensor.adopt(m.Deleter, m.Address(), false)
}

// plausible refuses addresses that are no managed tensor, without reading them.
func plausible(address uintptr) error {
	if err := process.start(); err != nil {
		return err
	}
	if address == 0 || address%8 != 0 {
		return refused(ErrPointer, "pass what the producer returned", "managed tensor at %#x", address)
	}
	return nil
}

func refused(err error, hint, format string, args ...any) error {
	return &ane.Error{Op: "import", Err: err, Detail: fmt.Sprintf(format, args...), Hint: hint}
}

// adopt makes the tensor. It calls the deleter if it fails.
func (d *Tensor) adopt(deleter, self uintptr, readOnly bool) (*ane.Tensor, error) {
	l, mem, err := d.layout()
	if err != nil {
		process.delete(deleter, self)
		return nil, err
	}
	var option unimem.Option
	if readOnly {
		option = unimem.ReadOnly()
	}
	free := func() error { process.delete(deleter, self); return nil }
	b, err := unimem.AdoptMemory(mem, free, option)
	if err != nil {
		process.delete(deleter, self)
		return nil, &ane.Error{Op: "import", Err: err}
	}
	t, err := ane.OnMemory(b, l)
	if err != nil {
		_ = b.Close() // calls the deleter; the first failure is the one to report
	}
	return t, err
}

// layout returns the tensor's layout and its bytes, from the first to the last element.
func (d *Tensor) layout() (l ane.Layout, mem []byte, err error) {
	if d.Device.Type != CPU && d.Device.Type != CUDAHost && d.Device.Type != ROCmHost {
		return l, nil, refused(ErrDevice, "have the producer copy it to the CPU", "device type %d", d.Device.Type)
	}
	dtype := mil.NoType // a type that tensors do not have
	for _, known := range types {
		if known.dlpack == d.DType {
			dtype = known.ane
		}
	}
	if dtype == mil.NoType {
		return l, nil, refused(ane.ErrType, "have the producer convert it to fp16",
			"type code %d of %d bits and %d lanes", d.DType.Code, d.DType.Bits, d.DType.Lanes)
	}
	shape, strides, err := d.axes()
	if err != nil {
		return l, nil, err
	}
	if l, err = ane.NewStrided("dlpack", dtype, shape, strides); err != nil {
		return l, nil, err
	}
	last := 0 // element
	for i, n := range shape {
		last += (n - 1) * strides[i]
	}
	size := dtype.Size()
	first, bytes := d.Data+uintptr(d.ByteOffset), (last+1)*size
	switch {
	case d.Data == 0, d.ByteOffset > uint64(^d.Data), uintptr(bytes) > ^first:
		return l, nil, refused(ErrPointer, "pass what the producer returned",
			"%d bytes at %#x and an offset of %d", bytes, d.Data, d.ByteOffset)
	case first%uintptr(size) != 0:
		return l, nil, refused(ane.ErrAligned, "have the producer copy it",
			"the first element is at %#x, not a multiple of %d", first, size)
	}
	return l, sliceAt[byte](first, bytes), nil
}

// axes copies lengths and strides out of the producer's memory.
func (d *Tensor) axes() (shape, strides []int, err error) {
	rank := int(d.NDim)
	switch {
	case rank < 0 || rank > ane.MaxRank:
		return nil, nil, refused(ane.ErrShape, "have the producer merge axes", "rank %d, at most %d", rank, ane.MaxRank)
	case rank == 0:
		return nil, nil, nil
	case d.Shape == 0 || (d.Shape|d.Strides)%8 != 0:
		return nil, nil, refused(ErrPointer, "pass what the producer returned",
			"lengths at %#x, strides at %#x", d.Shape, d.Strides)
	}
	both := make([]int, 2*rank)
	shape, strides = both[:rank], both[rank:]
	for i, n := range sliceAt[int64](d.Shape, rank) {
		shape[i] = clamp(n)
	}
	if d.Strides != 0 {
		for i, n := range sliceAt[int64](d.Strides, rank) {
			strides[i] = clamp(n)
		}
		return shape, strides, nil
	}
	for i, stride := rank-1, 1; i >= 0; i-- {
		strides[i] = stride
		if stride = ane.MaxBytes; shape[i] < 1 || strides[i] <= ane.MaxBytes/shape[i] {
			stride = strides[i] * shape[i]
		}
	}
	return shape, strides, nil
}

// clamp keeps a number from overflowing int; what it changes is refused anyway.
func clamp(n int64) int { return int(max(min(n, ane.MaxBytes+1), -1)) }
