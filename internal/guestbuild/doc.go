// Package guestbuild builds the WebAssembly guests of tests again and compares them with the binaries that stand beside
// their sources.
package guestbuild
