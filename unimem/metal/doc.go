// Package metal makes a Block accessible to the GPU without copies: as a Buffer over its
// address, or as a Texture over its IOSurface.
//
//	d, err := metal.Open()
//	...
//	buf, err := d.NewBuffer(block)
//	... pass buf.Pointer() to darwinkit, run the GPU's work, wait until it has ended
//	err = buf.Close()
//
// # Lifetime
//
// A Buffer or Texture retains its Block: Block.Close returns unimem.ErrInUse until the Buffer
// or Texture is closed. A command buffer of Metal retains the objects it uses, but not their
// Blocks, so close the objects after the GPU's work has ended (waitUntilCompleted). As for
// any shared storage, the caller has to synchronize accesses of the CPU and the GPU.
//
// # Platforms
//
// The package works on macOS, built with cgo, through darwinkit
// (github.com/progrium/darwinkit, formerly macdriver). On other platforms Open returns
// ErrUnavailable; functions that do not need Metal, such as Flat, work on all platforms. The
// macOS code is type-checked and has not been run; `go test ./unimem/metal` runs it on a Mac.
package metal
