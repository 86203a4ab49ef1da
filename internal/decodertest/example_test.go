package decodertest_test

import (
	"fmt"
	"log"
	"os"

	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/models/decoder"
)

// A test of a program that uses package decoder needs no published model: each family in a folder of some KiB.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "decodertest")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, family := range decodertest.Families() {
		model, err := decodertest.Write(dir, decodertest.Spec{Family: family, Layers: 1, Bits: 4, Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		folder, err := decoder.Open(dir)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(family, model.JSON["model_type"], len(model.Values["model.norm.weight"]), folder.Close())
	}
	// Output:
	// llama2 llama 64 <nil>
	// llama3 llama 64 <nil>
	// tinyllama llama 64 <nil>
	// qwen2 qwen2 64 <nil>
	// qwen3 qwen3 64 <nil>
}
