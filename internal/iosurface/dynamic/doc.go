// Package dynamic fills an iosurface.Table from libraries that it opens at run time.
//
// It is separate from package iosurface because a program that links the dynamic loader on
// Linux needs the C library. So only programs that load a library of surfaces need that.
package dynamic

import "errors"

// ErrNoLoader: Load in a build that cannot open libraries.
var ErrNoLoader = errors.New("this build cannot open libraries: build for macOS, or for Linux with CGO_ENABLED=1")

// ErrNoSystem: System on an operating system without IOSurface.
var ErrNoSystem = errors.New("only macOS has IOSurface: load a stand-in for it by its path")
