// Package iosurface makes IOSurfaces: one run of memory each, locked for the CPU from
// creation until Close.
//
// It calls the system through a Table of functions, so that everything but filling the table
// is the same on every machine and can be run against another library.
package iosurface
