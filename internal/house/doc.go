// Package house tests the rules of this repository. They say which packages a package may import, which files may have
// unsafe and C, and that an import starts nothing. The package has no code of its own.
package house
