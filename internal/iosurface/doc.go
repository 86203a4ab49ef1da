// Package iosurface creates IOSurfaces: each is one run of memory, locked for the CPU from
// creation until Close.
//
// It calls the functions of a Table. So all code but that which fills the table is the same on every
// machine, and runs with another library too.
package iosurface
