// Package host says what the operating system gives a process. The other packages and their tests ask it instead of
// runtime.GOOS, because a build for Linux with the tag macrules has the rules of macOS. Such a build compiles the files
// of macOS, which call stand-ins of its libraries. It has nothing that a Mac lacks.
package host

import "runtime"

const (
	// Name is the operating system of the build, for messages: "linux" in a build with macrules too.
	Name = runtime.GOOS
	// Platform is the operating system and the processor, such as "darwin/arm64".
	Platform = runtime.GOOS + "/" + runtime.GOARCH
	// Apple: the system is macOS on Apple silicon, which has Apple's frameworks.
	Apple = runtime.GOOS == "darwin" && runtime.GOARCH == "arm64"
	// Windows: files and folders in use stay, and memory maps no files.
	Windows = runtime.GOOS == "windows"
)

// System names the system in messages; a build with macrules says so.
func System() string {
	if Mac && Name != "darwin" {
		return Name + " with the rules of macOS"
	}
	return Name
}

// What the system has. Command macskips also counts skipped tests by these names.
const (
	// Mac: Blocks are IOSurfaces and the Mac's own files are compiled, on macOS or with macrules.
	Mac = mac
	// Broker: a broker runs in a process of its own, and its clients reach it.
	Broker = linux
	// ShareByFD: a Block has a descriptor, which another process maps.
	ShareByFD = linux
	// Remap: a process maps the pages of a Block a second time.
	Remap = linux
	// Fork: Blocks of a process share pages until one of them is written.
	Fork = linux
	// ProcessMemory: the mappings of processes can be listed.
	ProcessMemory = linux
	// Touched: the pages of a mapping that were written are known.
	Touched = linux
	// Unmap: memory under a surface can be mapped again when the surface goes.
	Unmap = linux || mac
	// Uring: the kernel reads files through io_uring, and descriptors count events (eventfd).
	Uring = linux
	// Pipes: package os watches pipes, so that closing one ends a Write that waits.
	Pipes = !mac
	// Vulkan: the GPU is reached through Vulkan.
	Vulkan = linux || Windows
	// DescriptorPaths: /proc has the paths of open files, also of files without a name.
	DescriptorPaths = linux
)
