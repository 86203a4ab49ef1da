// Package blocktest is the test suite of the memory backends of unimem.
package blocktest
