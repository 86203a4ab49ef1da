// Package house holds no code. Its tests keep the order of the house: which package may import
// which, where unsafe and C may stand, and that importing a package starts nothing.
package house
