// Package blocktest holds the suite that every memory backend of unimem passes.
package blocktest
