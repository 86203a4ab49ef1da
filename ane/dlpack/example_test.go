package dlpack_test

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/dlpack"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// A tensor goes out as a managed tensor and its Block stays open until the consumer calls the deleter.
func ExampleExport() {
	l, err := ane.NewLayout("x", mil.FP16, 2, 3)
	if err != nil {
		panic(err)
	}
	b, err := unimem.Open(l.Bytes())
	if err != nil {
		panic(err)
	}
	x, err := ane.OnBlock(b, l)
	if err != nil {
		panic(err)
	}
	m, err := dlpack.Export(x)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Tensor.NDim, "axes of", m.Tensor.DType.Bits, "bits")
	fmt.Println(b.Close())
	m.Delete() // a consumer does so through m.Deleter
	fmt.Println(b.Close())
	// Output:
	// 2 axes of 16 bits
	// unimem: close of 16384 bytes: memory is in use; release every Retain and close every Mapping first
	// <nil>
}

// A tensor of another library is used in place, and given back by the Close of its Block.
func ExampleImport() {
	address, end := producer()
	defer end()
	x, err := dlpack.Import(dlpack.At(address))
	if err != nil {
		panic(err)
	}
	defer x.Block().Close() // calls the producer's deleter
	v, err := x.At(1, 2)
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Layout().Shape, v, x.Block().ReadOnly())
	// Output: [2 3] 6 true
}

// producer takes the place of a C function that returns DLManagedTensorVersioned *.
func producer() (address uintptr, end func()) {
	l, err := ane.NewLayout("y", mil.FP32, 2, 3)
	if err != nil {
		panic(err)
	}
	b, err := unimem.Open(l.Bytes())
	if err != nil {
		panic(err)
	}
	y, err := ane.OnBlock(b, l)
	if err != nil {
		panic(err)
	}
	if _, err = y.WriteFloat32([]float32{1, 2, 3, 4, 5, 6}); err != nil {
		panic(err)
	}
	m, err := dlpack.Export(y, dlpack.ReadOnly())
	if err != nil {
		panic(err)
	}
	return m.Address(), func() { b.Close() }
}
