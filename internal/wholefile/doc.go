// Package wholefile replaces files as a whole: a destination never has a part of its new
// content.
//
// [Create] opens a temporary file beside the destination, [File.Commit] gives it
// the destination's name, [File.Discard] removes it. Several files may be staged before any of
// them appears:
//
//	y, err := wholefile.Create("y.npy")
//	if err != nil {
//		return err // the folder is missing, not writable, ...
//	}
//	defer y.Discard()
//	z, err := wholefile.Create("z.npy")
//	if err != nil {
//		return err // y.npy is unchanged
//	}
//	defer z.Discard()
//	... long work, writing to y and z ...
//	return wholefile.CommitAll(y, z)
//
// [Replace] does it for one file.
//
// # Destinations
//
// Create follows a symbolic link, also one whose target does not exist yet. An existing file
// must be writable, not only its folder; it keeps its permission bits and, if the system
// permits it, its owner. A new file gets permissions from the umask. Other hard links to an
// existing file keep its old content; access lists and extended attributes are lost.
//
// Devices, pipes and files that only a descriptor refers to (/dev/stdout) cannot be replaced:
// Create opens them, and Write writes to them directly. Create refuses a pipe without a
// reader; it does not wait for one.
//
// # Sources
//
// Create takes the files that its caller reads, and refuses a path that leads to one of them.
// It compares files by identity, not by name.
//
// # Temporary files
//
// Only a killed process leaves its temporary file, called .wholefile-HEX.tmp, in the
// destination's folder.
//
// Errors are of type [*fs.PathError], with the given path and the error of the system. [Open] and [Read], which read,
// have others.
package wholefile
