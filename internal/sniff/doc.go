// Package sniff names what a file or a folder is, for every command and package that gets a path from a caller: what the
// thing is in a few words, and the next step.
//
// [Path] looks at a path, [Start] at the first bytes of a file that is already open. Both judge by content first and by
// name only where content decides nothing. Path reads at most [Enough] bytes of a file and the names of a folder. It
// opens no pipe and no device, so it never waits. Its words never contain bytes of a file.
//
// A reader calls the package after its own parser has failed:
//
//	if found := sniff.Start(path, first, size); found.Foreign(sniff.Safetensors) {
//		return fmt.Errorf("%s is %s; %s", path, found.What, found.Next)
//	}
package sniff
