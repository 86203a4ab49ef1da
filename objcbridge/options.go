package objcbridge

import (
	"github.com/anekit/anekit/internal/host"
)

// Paths of the two libraries on macOS. They are in the shared cache, not on disk.
const (
	AppleFramework = "/System/Library/PrivateFrameworks/AppleNeuralEngine.framework/AppleNeuralEngine"
	AppleIOKit     = "/System/Library/Frameworks/IOKit.framework/IOKit"
)

// Options selects the libraries of a Bridge. The zero value is Apple's framework through the
// bridge described in the package comment.
type Options struct {
	Library      string // path of the bridge library; relative to the working directory
	Framework    string // path of AppleNeuralEngine; empty: AppleFramework
	IOKit        string // path of IOKit; empty: AppleIOKit on darwin, none elsewhere
	ProgramLimit int    // limit of loaded programs in this process; 0: 100, of the machine's 115 to 127 slots
	// KeepFiles leaves a program's files (Facts.Path) in place from its load to its unload, for looking at them. The
	// loaded program does not need them, and they have its weights twice: the bridge's files and the framework's copies.
	KeepFiles bool
}

// withDefaults sets the default paths of the libraries that the bridge opens.
func (o Options) withDefaults() Options {
	if o.Framework == "" {
		o.Framework = AppleFramework
	}
	if o.IOKit == "" && host.Name == "darwin" {
		o.IOKit = AppleIOKit
	}
	return o
}

// LibraryName is the file name of the bridge library on this system.
func LibraryName() string {
	if host.Name == "darwin" {
		return "libanebridge.dylib"
	}
	return "libanebridge.so"
}
