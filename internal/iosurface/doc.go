// Package iosurface creates IOSurfaces: each is one run of memory, locked for the CPU from
// creation until Close.
//
// It calls the system through a Table of functions, so that all code except the filling of the
// table is the same on every machine and runs with another library too.
package iosurface
