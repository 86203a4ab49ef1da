//go:build !macrules

package ane_test

import (
	"fmt"
	"log"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// The descriptor and the header go to another process, here to the same one: both tensors
// see the same bytes.
func ExampleShareTensor() {
	l, err := ane.NewLayout("x", mil.FP16, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	block, err := unimem.Open(l.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	defer block.Close()
	mine, err := ane.OnBlock(block, l)
	if err != nil {
		log.Fatal(err)
	}
	memory, header, err := ane.ShareTensor(mine)
	if err != nil {
		log.Fatal(err)
	}
	theirs, err := ane.AdoptTensor(memory, header)
	if err != nil {
		log.Fatal(err)
	}
	defer theirs.Block().Close()
	if err := memory.Close(); err != nil {
		log.Fatal(err)
	}
	if err := theirs.Set(7, 1, 2); err != nil {
		log.Fatal(err)
	}
	fmt.Println(mine.At(1, 2))
	// Output: 7 <nil>
}
