// Package dynamic fills an iosurface.Table from libraries that it opens at run time.
//
// It stands apart from package iosurface because a program that links the dynamic loader
// on Linux needs the C library: only what asks for a library of surfaces there pays for it.
package dynamic

import "errors"

// ErrNoLoader answers Load in a build that cannot open libraries.
var ErrNoLoader = errors.New("this build cannot open libraries: build for macOS, or for Linux with CGO_ENABLED=1")

// ErrNoSystem answers System where the operating system has no IOSurface.
var ErrNoSystem = errors.New("only macOS has IOSurface: load a stand-in for it by its path")
