// Package surfaces opens Blocks on the IOSurfaces of a given library: the system's own on
// macOS, a stand-in with the same functions elsewhere.
//
//	lib, err := surfaces.Load(path, path)
//	...
//	b, err := unimem.Open(1<<20, lib.Option())   // a new surface
//	v, err := lib.Adopt(id, size)                // an existing one
//
// On macOS unimem uses the system's library by default, and this package is for surfaces of
// other frameworks. The code is tested on Linux with a stand-in; on macOS it is type-checked
// and has not been run.
//
// A Library stays loaded until the process ends. All methods are safe for concurrent use, and
// those of a nil Library return an error.
package surfaces
