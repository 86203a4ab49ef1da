// Package procmem tells how much memory this process has.
package procmem
