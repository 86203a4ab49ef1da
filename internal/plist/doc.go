// Package plist reads and writes property lists as ordered trees: the XML form of
// macOS, and the same values as JSON.
//
// A value is one of bool, int64, uint64 (above math.MaxInt64 alone), float64, string,
// Array and Dict; JSON's null is nil. Dict keeps the order of its keys, which maps of
// the standard library do not.
//
// Readers refuse input that is no UTF-8, that nests deeper than MaxDepth, holds more
// than MaxValues values or is longer than MaxBytes, and a key that stands twice. Every
// error is an *Error with the line.
package plist
