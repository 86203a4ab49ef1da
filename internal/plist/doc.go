// Package plist reads and writes property lists as ordered trees: the XML form of
// macOS, and the same values as JSON.
//
// A value is a bool, int64, uint64 (only above math.MaxInt64), float64, string, Array or
// Dict; JSON's null is nil. Dict keeps the order of its keys.
//
// Readers refuse input that is not valid UTF-8, nests deeper than MaxDepth, has more than
// MaxValues values or is longer than MaxBytes, and a key that is given twice. Every error is
// an *Error with the line.
package plist
