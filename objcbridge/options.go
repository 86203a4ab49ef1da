package objcbridge

import "runtime"

// Where macOS keeps the two libraries. They live in the shared cache, not on disk.
const (
	AppleFramework = "/System/Library/PrivateFrameworks/AppleNeuralEngine.framework/AppleNeuralEngine"
	AppleIOKit     = "/System/Library/Frameworks/IOKit.framework/IOKit"
)

// Options says which libraries a Bridge uses. The zero value is Apple's framework through the
// bridge that the package comment describes.
type Options struct {
	Library      string // path of the bridge library; a relative one is taken from the working directory
	Framework    string // path of AppleNeuralEngine; empty: AppleFramework
	IOKit        string // path of IOKit; empty: AppleIOKit on darwin, none elsewhere
	CompileLimit int    // compiles this process may spend; 0: 110, below Apple's limit of some 119
	ProgramLimit int    // programs this process may hold loaded; 0: 100, below Apple's limit of some 126
}

// withDefaults fills in the paths of the libraries that the bridge opens.
func (o Options) withDefaults() Options {
	if o.Framework == "" {
		o.Framework = AppleFramework
	}
	if o.IOKit == "" && runtime.GOOS == "darwin" {
		o.IOKit = AppleIOKit
	}
	return o
}

// LibraryName is the file name of the bridge library on this system.
func LibraryName() string {
	if runtime.GOOS == "darwin" {
		return "libanebridge.dylib"
	}
	return "libanebridge.so"
}
