// Package surfaces opens Blocks on the IOSurfaces of a given library: the system's own on
// macOS, a stand-in with the same functions elsewhere.
//
//	lib, err := surfaces.Load(path, path)
//	...
//	b, err := unimem.Open(1<<20, lib.Option())   // a new surface
//	v, err := lib.Adopt(id, size)                // one that exists already
//
// On macOS unimem uses the system's library by itself, and this package is for surfaces
// that other frameworks made. The same code runs on Linux against a stand-in, where it is
// tested; on macOS it was type-checked and has not been run.
//
// A Library stays loaded for the life of the process. All methods are safe for concurrent
// use, and those of a nil Library answer with an error.
package surfaces
