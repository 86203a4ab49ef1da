//go:build !linux || macrules

package vulkan

import "errors"

func dmabuf(uintptr, int) (fd int, err error) {
	return -1, errors.New("only Linux makes dma-bufs of Blocks")
}

func closeFile(int) {}
