package blob

import (
	"bytes"
	"io"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
)

const benchSize = 16 << 20 // bytes of payload

// BenchmarkData reads a payload into new memory.
func BenchmarkData(b *testing.B) {
	var w Writer
	at, err := w.Add(mil.FP16, make([]byte, benchSize), 0)
	if err != nil {
		b.Fatal(err)
	}
	f := open(b, w.Bytes())
	b.SetBytes(benchSize)
	b.ReportAllocs()
	for b.Loop() {
		e, err := f.Find(at, mil.TensorOf(mil.FP16, benchSize/2))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Data(e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDataFloor copies as many bytes into new memory.
func BenchmarkDataFloor(b *testing.B) {
	src := make([]byte, benchSize+128)
	for i := range src {
		src[i] = byte(i) // touch every page, as reading a file does
	}
	b.SetBytes(benchSize)
	for b.Loop() {
		copy(make([]byte, benchSize), src[128:])
	}
}

// BenchmarkWriteTo writes a payload to a writer that copies.
func BenchmarkWriteTo(b *testing.B) {
	var w Writer
	if _, err := w.Add(mil.FP16, make([]byte, benchSize), 0); err != nil {
		b.Fatal(err)
	}
	out := bytes.NewBuffer(make([]byte, 0, w.Size()))
	b.SetBytes(w.Size())
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		if _, err := w.WriteTo(out); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWriteToFloor passes the same bytes to the same writer in one call.
func BenchmarkWriteToFloor(b *testing.B) {
	src := make([]byte, benchSize+128)
	out := bytes.NewBuffer(make([]byte, 0, len(src)))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		out.Reset()
		if _, err := io.Copy(out, bytes.NewReader(src)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAddFloat32As16 converts values and keeps them.
func BenchmarkAddFloat32As16(b *testing.B) {
	values := make([]float32, benchSize/2)
	b.SetBytes(benchSize)
	for b.Loop() {
		var w Writer
		if _, err := w.AddFloat32As16(values); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAddFloat32As16Floor converts as many values into existing memory.
func BenchmarkAddFloat32As16Floor(b *testing.B) {
	values, halves := make([]float32, benchSize/2), make([]fp16.Bits, benchSize/2)
	b.SetBytes(benchSize)
	for b.Loop() {
		fp16.Encode(halves, values)
	}
}
