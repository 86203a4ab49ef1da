// Package house tests the rules of this repository: the packages that a package may import, the files that may have
// unsafe and C, and that importing a package starts nothing. It has no code of its own.
package house
