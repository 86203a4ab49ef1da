package safetensors_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// file writes an example into a new folder.
func file() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "safetensors")
	if err != nil {
		panic(err)
	}
	path = filepath.Join(dir, "model.safetensors")
	w, err := safetensors.Create(path, map[string]string{"format": "pt"}, safetensors.Align(64))
	if err != nil {
		panic(err)
	}
	defer w.Abort()
	if err := w.Add("bias", safetensors.F32, []int{2}, []byte{0, 0, 128, 63, 0, 0, 0, 64}); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return path, func() { _ = os.RemoveAll(dir) }
}

func ExampleOpen() {
	path, remove := file()
	defer remove()
	f, err := safetensors.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	bias, err := f.Tensor("bias")
	if err != nil {
		panic(err)
	}
	values, err := safetensors.View[float32](bias)
	fmt.Println(bias.Name(), bias.DType(), bias.Shape(), values, err)
	// Output: bias F32 [2] [1 2] <nil>
}

func ExampleLoad() {
	path, remove := file()
	defer remove()
	tape, err := unimem.Start(1 << 20)
	if err != nil {
		panic(err)
	}
	defer tape.Close()
	f, err := safetensors.Load(context.Background(), path, tape, safetensors.Auto())
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Println(f.Report().Why)
	// Output: Auto maps: the files have less than 1 MiB
}

func ExampleTensor_Float16To() {
	path, remove := file()
	defer remove()
	f, err := safetensors.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	bias, err := f.Tensor("bias")
	if err != nil {
		panic(err)
	}
	halves := make([]byte, 4)
	n, err := bias.Float16To(halves)
	fmt.Printf("%x %d %v\n", halves, n, err)
	// Output: 003c0040 4 <nil>
}
