// Package metal lets the GPU see a Block: as a Buffer over its address, or as a Texture over
// its IOSurface. Nothing is copied.
//
//	d, err := metal.Open()
//	...
//	buf, err := d.NewBuffer(block)
//	... give buf.Pointer() to darwinkit, run the GPU's work, wait for it to end
//	err = buf.Close()
//
// # Lifetime
//
// A Buffer or Texture holds its Block: Block.Close is unimem.ErrInUse until its own Close.
// A command buffer of Metal holds the objects it uses, but not the Block under them, so
// close them after the GPU's work has ended (waitUntilCompleted). Ordering of CPU and GPU
// accesses is up to the caller, as it is for any shared storage.
//
// # Where
//
// On macOS, built with cgo, through darwinkit (github.com/progrium/darwinkit, the present
// name of macdriver). Elsewhere Open answers ErrUnavailable; everything that needs no Metal,
// such as Flat, works everywhere. The macOS side was type-checked and has not been run; on
// a Mac, `go test ./unimem/metal` runs it.
package metal
