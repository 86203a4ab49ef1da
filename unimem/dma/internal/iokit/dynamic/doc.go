// Package dynamic fills an iokit.Table from a library that it opens at run time.
//
// It is separate from package iokit because a program that links the dynamic loader on Linux needs the C library.
package dynamic

import "errors"

// ErrNoLoader: Load in a build that cannot open libraries.
var ErrNoLoader = errors.New("this build cannot open libraries: build for macOS, or for Linux with CGO_ENABLED=1")

// Path is that of IOKit on macOS, in the shared cache.
const Path = "/System/Library/Frameworks/IOKit.framework/IOKit"
