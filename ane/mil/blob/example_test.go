package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing/fstest"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// Where a program finds its weights.
const path = blob.ModelPath + "weights/w.bin"

// file is a weight file with one tensor of four fp16.
func file() *blob.Writer {
	w := new(blob.Writer)
	if _, err := w.AddFloat32As16([]float32{1, 2, 3, 4}); err != nil {
		panic(err)
	}
	return w
}

func ExampleWriter() {
	w := new(blob.Writer)
	first, err := w.AddFloat32As16([]float32{1, 2, 3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := w.Add(mil.Int8, []byte{1, 2, 3}, 0)
	fmt.Println(first, second, w.Size(), err)
	// Output: 64 192 259 <nil>
}

func ExampleFile() {
	raw := file().Bytes()
	f, err := blob.NewReader(bytes.NewReader(raw), int64(len(raw)), "w.bin")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	payload, err := f.Tensor(blob.First, mil.TensorOf(mil.FP16, 4))
	fmt.Printf("% x %v\n", payload, err)
	// Output: 00 3c 00 40 00 42 00 44 <nil>
}

func ExampleEntry() {
	raw := file().Bytes()
	f, err := blob.NewReader(bytes.NewReader(raw), int64(len(raw)), "w.bin")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	e, err := f.Entry(blob.First)
	fmt.Println(e.Tag, e.DataOffset, e.Size, err)
	// Output: fp16 128 8 <nil>
}

func ExampleTag() {
	t, ok := blob.TagOf(mil.BF16)
	fmt.Println(t, t.Bits(), ok)
	// Output: bf16 16 true
}

func ExampleError() {
	_, err := blob.NewReader(bytes.NewReader(nil), 0, "w.bin")
	var fault *blob.Error
	fmt.Println(errors.As(err, &fault), errors.Is(err, blob.ErrFormat))
	// Output: true true
}

func ExampleFiles() {
	weights := blob.Files{path: file().Bytes()}
	raw, err := weights.ReadFile(path)
	fmt.Println(len(raw), err)
	// Output: 136 <nil>
}

func ExampleDir() {
	_, err := blob.Dir("models").ReadFile(blob.ModelPath + "../secret")
	fmt.Println(err != nil)
	// Output: true
}

func ExampleSource() {
	s := blob.FS(fstest.MapFS{"weights/w.bin": {Data: file().Bytes()}})
	raw, err := s.ReadFile(path)
	fmt.Println(len(raw), err)
	// Output: 136 <nil>
}

// New weights take precedence over those of a directory.
func ExampleSources() {
	s := blob.Sources{blob.Files{path: file().Bytes()}, blob.Dir("model")}
	raw, err := s.ReadFile(path)
	fmt.Println(len(raw), err)
	// Output: 136 <nil>
}

func ExampleWriters() {
	weights := blob.Writers{path: file()}
	raw, err := weights.ReadFile(path)
	fmt.Println(len(raw), err)
	// Output: 136 <nil>
}

// Blank replaces missing weights by zeros.
func ExampleNeed() {
	raw, err := blob.Blank("w.bin", 1<<20, []blob.Need{{Offset: blob.First, Type: mil.TensorOf(mil.FP16, 4)}})
	fmt.Println(len(raw), err)
	// Output: 136 <nil>
}

// Numbers that fp16 does not hold become others in a weight file.
func ExampleLost() {
	fmt.Printf("%+v\n", blob.LostAs16([]float32{1, 70000, 1e-12, float32(math.NaN())}))
	// Output: {Infinite:1 Zero:1 NaN:1}
}
