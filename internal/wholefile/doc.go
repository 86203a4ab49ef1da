// Package wholefile writes files that appear complete or not at all.
//
// [Create] opens a temporary file beside the destination, [File.Commit] gives it
// the destination's name, [File.Discard] removes it. Several files may be staged
// before any is seen:
//
//	y, err := wholefile.Create("y.npy")
//	if err != nil {
//		return err // the folder is missing, not writable, ...
//	}
//	defer y.Discard()
//	z, err := wholefile.Create("z.npy")
//	if err != nil {
//		return err // y.npy is as it was
//	}
//	defer z.Discard()
//	... long work, writing to y and z ...
//	return wholefile.CommitAll(y, z)
//
// [Replace] does it for one file.
//
// # What the destination keeps
//
// A symbolic link is followed, also one whose target does not exist yet. An
// existing file must be writable itself, not just its folder; it keeps its
// permission bits and, where the system allows, its owner. A new file gets the
// permissions that the umask leaves. Other hard links to an existing file keep
// its old content; access lists and extended attributes are not carried over.
//
// Devices, pipes and files that only a descriptor leads to (/dev/stdout) have
// nothing to be replaced: they are opened by Create and written as data comes. A
// pipe that nobody has open for reading is refused, not waited for.
//
// # What is not overwritten
//
// Create takes the files that its caller reads, and refuses a path that leads to
// one of them. Files are compared as the system tells them apart, never by name.
//
// # What may stay behind
//
// Only a process that is killed leaves its temporary file, called
// .wholefile-HEX.tmp, in the destination's folder.
//
// Errors are of type [*fs.PathError], with the path as it was given and what the
// system reported.
package wholefile
