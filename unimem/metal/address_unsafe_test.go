//go:build darwin && cgo

package metal

import "unsafe"

func addressOf(b *[1]byte) unsafe.Pointer { return unsafe.Pointer(b) }
