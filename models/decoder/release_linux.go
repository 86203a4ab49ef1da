//go:build !macrules

package decoder

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem/safetensors"
)

// release returns the pages of a tensor of a mapped file to the system, which brings them back when they are read
// again. The caller knows that the file is mapped.
func release(t safetensors.Tensor) {
	block, offset, err := t.Block()
	data := t.Bytes()
	if err != nil || len(data) == 0 {
		return
	}
	page := os.Getpagesize()
	before := -int(block.Address()+uintptr(offset)) & (page - 1) // to the first whole page
	if length := (len(data) - before) / page * page; length > 0 {
		_ = unix.Madvise(data[before:before+length], unix.MADV_DONTNEED) // advice; the pages may as well stay
	}
}
