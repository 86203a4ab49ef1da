package blob

import (
	"bytes"
	"errors"
	"testing"

	"github.com/anekit/anekit/ane/mil"
)

// FuzzReader opens any bytes, and reads the entries of the header and the entry at any
// offset. A returned entry lies within the file; every error is an *Error.
func FuzzReader(f *testing.F) {
	data, offsets := three(f)
	for _, at := range append(offsets, 0, 128, 1<<63) {
		f.Add(data, at)
	}
	f.Add(put64(data, 72, ^uint64(0)), uint64(64))
	f.Add(put64(data, 80, 0), uint64(64))
	f.Add(put32(data, 0, 1<<31), uint64(64))
	f.Add(put32(data, 4, 1), uint64(64))
	f.Fuzz(func(t *testing.T, data []byte, offset uint64) {
		file, err := NewReader(bytes.NewReader(data), int64(len(data)), "f")
		if err != nil {
			typed(t, err)
			return
		}
		list, err := file.Entries()
		typed(t, err)
		if err == nil && uint32(len(list)) != file.count {
			t.Fatalf("%d entries of %d", len(list), file.count)
		}
		if len(list)*metaSize > len(data) {
			t.Fatalf("%d entries in %d bytes", len(list), len(data))
		}
		e, err := file.Entry(offset)
		typed(t, err)
		if err == nil {
			list = append(list, e)
		}
		for _, e := range list {
			if uint64(e.DataOffset) < e.Offset+metaSize || e.Size < 0 || e.end() > int64(len(data)) {
				t.Fatalf("%+v in %d bytes", e, len(data))
			}
			got, err := file.Data(e)
			if err != nil || !bytes.Equal(got, data[e.DataOffset:e.end()]) {
				t.Fatalf("%+v: other bytes, %v", e, err)
			}
			if e.Tag.Bits() != 0 {
				elements := (int(e.Size)*8 - e.UnusedBits) / e.Tag.Bits()
				_, err = file.Tensor(e.Offset, mil.TensorOf(e.Tag.DType(), elements))
				typed(t, err)
			}
		}
		if len(file.Warnings()) > maxWarnings {
			t.Fatal("too many warnings")
		}
	})
}

func typed(t *testing.T, err error) {
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Err == nil || e.Msg == "") {
		t.Fatalf("untyped error %v", err)
	}
}
