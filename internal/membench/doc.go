// Package membench has the operations of package unimem as cases: each beside the smallest code that does the same
// work on memory from direct system calls.
package membench
